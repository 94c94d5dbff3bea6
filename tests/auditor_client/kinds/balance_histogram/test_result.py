"""Balance histograms through the SDK: by name, as a frame, and held to what was asked."""

from collections.abc import Iterator

import pytest
from joserfc.jwk import OKPKey

from auditor_client import Auditor, BalanceHistogramResult, InputError, ReceiptError
from auditor_client.local.audience_records import Record, save_record
from openapi.resources import BalanceHistogramRelease, GroupBalances, ShareEdges
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    NAMES,
    common,
    part,
    price_of,
    signed,
)
from tests.auditor_client.kinds.test_registry import Platform
from tests.auditor_client.scripted import ScriptedService
from tests.refusals import refuses


def balances(key: OKPKey, edges: list[float]) -> BalanceHistogramRelease:
    bins = len(edges) - 1
    made = BalanceHistogramRelease(
        kind="balance-histogram",
        bins=ShareEdges(edges=edges),
        groups=[
            GroupBalances(label=label, counts=list(range(bins)), outside=-1) for label in NAMES
        ],
        price=price_of(part("balances")),
        **common(),
    )
    return signed(made, key)


@pytest.fixture
def platform(service: ScriptedService) -> Platform:
    return Platform(service)


@pytest.fixture
def auditor(service: ScriptedService, platform: Platform) -> Iterator[Auditor]:
    save_record(AUDIENCE_ID, Record(NAMES))
    with Auditor(service.url, "r", OKPKey.generate_key("Ed25519")) as made:
        yield made


def test_counts_come_by_name_and_as_a_frame(platform: Platform, auditor: Auditor) -> None:
    platform.releases(balances(platform.key, [0, 0.5, 1]))
    found = auditor.audits.balance_histogram(AUDIENCE_ID, bins=2, epsilon=0.5)
    assert found.counts == {"man": [0, 1], "woman": [0, 1]}
    assert found.outside == {"man": -1, "woman": -1}
    assert found.edges == [0, 0.5, 1]
    assert found.error_95 == 3
    assert found.table().to_pylist()[1:2] + found.table().to_pylist()[-1:] == [
        {"group": "man", "low": 0.5, "high": 1.0, "count": 1},
        {"group": "woman", "low": None, "high": None, "count": -1},
    ]
    asked = platform.asked()
    assert (asked["kind"], asked["epsilon"]) == ("balance-histogram", "0.5")
    assert asked["bins"] == {"edges": [0.0, 0.5, 1.0]}


def test_the_words_tell_what_missing_people_can_mean(platform: Platform, auditor: Auditor) -> None:
    platform.releases(balances(platform.key, [0, 1]))
    found = auditor.audits.balance_histogram(AUDIENCE_ID, bins=1)
    assert isinstance(found, BalanceHistogramResult)
    assert "another debit of 2.00 rho" in found.words
    assert "cannot be distinguished" in found.words


def test_a_release_of_other_bins_is_caught(platform: Platform, auditor: Auditor) -> None:
    platform.releases(balances(platform.key, [0, 0.5, 1]))
    with refuses(ReceiptError, "not-what-was-asked", "bins"):
        auditor.audits.balance_histogram(AUDIENCE_ID, bins=[0, 0.9, 1])


@pytest.mark.parametrize("bins", [0, [0.5], [0, 2], [0.2, 0.1], [-1, 0]])
def test_bins_that_are_no_shares_are_refused_here(
    platform: Platform, auditor: Auditor, bins: int | list[float]
) -> None:
    with pytest.raises(InputError):
        auditor.audits.balance_histogram(AUDIENCE_ID, bins=bins)
    assert not platform.service.requests("POST", "/v1/audits")
