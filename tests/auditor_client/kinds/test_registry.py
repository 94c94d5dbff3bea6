"""The other kinds of audit through the SDK: what is sent, and what comes back."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from joserfc.jwk import OKPKey

from auditor_client import Auditor, InputError, MatchCountResult, ReceiptError
from auditor_client.charts import chart as charts
from auditor_client.local.audience_records import Record, save_record
from auditor_client.local.saved_receipt import AnyRelease
from openapi.resources import REQUEST, BatchQuote
from tests.auditor_client.audiences.test_client import CATALOGUE
from tests.auditor_client.audits.test_client import events
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    AUDIT_ID,
    CONTENT_ID,
    NAMES,
    OTHER_ID,
    audit_for,
    cdf_release,
    content,
    key_set,
    match_count_release,
    most_skewed_release,
    part,
    platform_key,
    price,
    price_of,
    quote,
    release,
)
from tests.auditor_client.scripted import Answer, Asked, ScriptedService, answer
from tests.refusals import refuses

PATH = f"/v1/audits/{AUDIT_ID}"
BOTH = [content(), content("Nurse", OTHER_ID)]


class Platform:
    """A platform that answers any request with the release it is given."""

    def __init__(self, service: ScriptedService) -> None:
        self.service, self.key = service, platform_key()
        service.sign_in("token")
        service.on("GET", "/v1/catalogue", answer(CATALOGUE))
        service.on("GET", "/v1/budget", answer({"mandates": []}))
        service.on("GET", "/oauth/jwks", answer(key_set(self.key)))
        service.on("GET", f"{PATH}/events", events("charged", "running", "released"))
        for one in BOTH:
            service.on("GET", f"/v1/contents/{one.id}", answer(one.model_dump(mode="json")))

    def releases(self, made: AnyRelease) -> None:
        def submitted(asked: Asked) -> Answer:
            audit = audit_for(REQUEST.validate_json(asked.body), made.price)
            found = answer(audit.model_dump(mode="json"))
            self.service.on("GET", PATH, found)
            return found

        self.service.on("POST", "/v1/audits", submitted)
        stored = Answer(200, made.model_dump_json().encode())
        self.service.on("GET", f"{PATH}/release", stored)

    def asked(self) -> dict[str, Any]:
        [asked] = self.service.requests("POST", "/v1/audits")
        body: dict[str, Any] = json.loads(asked.body)
        return body


@pytest.fixture
def platform(service: ScriptedService) -> Platform:
    return Platform(service)


@pytest.fixture
def auditor(service: ScriptedService, platform: Platform) -> Iterator[Auditor]:
    save_record(AUDIENCE_ID, Record(NAMES))
    with Auditor(service.url, "r", OKPKey.generate_key("Ed25519")) as made:
        yield made


def test_match_counts_come_by_name_with_their_error(platform: Platform, auditor: Auditor) -> None:
    platform.releases(match_count_release(platform.key, {"g0": 93, "g1": 88}))
    found = auditor.audits.match_count(AUDIENCE_ID, epsilon=0.5)
    assert found.counts == {"man": 93, "woman": 88}
    assert found.error_95 == 3
    assert (platform.asked()["kind"], platform.asked()["epsilon"]) == ("match-count", "0.5")


def test_the_most_skewed_content_is_named(platform: Platform, auditor: Auditor) -> None:
    platform.releases(most_skewed_release(platform.key, BOTH, 1))
    found = auditor.audits.most_skewed(BOTH, AUDIENCE_ID, bins=2, epsilon=1, weights=(2, 1))
    assert found.chosen == BOTH[1]
    assert (found.position, found.error_95) == (1, 7)
    asked = platform.asked()
    assert asked["contents"] == [CONTENT_ID, OTHER_ID]
    assert asked["weights"] == [2, 1]
    assert asked["bins"] == {"edges": [0, 0.5, 1]}


def test_running_counts_come_by_name_and_as_a_frame(platform: Platform, auditor: Auditor) -> None:
    platform.releases(cdf_release(platform.key, {"g0": [1.5, 4, 5], "g1": [2, 2, 2.5]}))
    found = auditor.audits.score_cdf(CONTENT_ID, AUDIENCE_ID, bins=2, epsilon=1)
    assert found.cumulative == {"man": [1.5, 4, 5], "woman": [2, 2, 2.5]}
    assert (found.edges, found.error_95) == ([0.5, 1], 9)
    assert found.table().to_pylist()[:3] == [
        {"group": "man", "up_to": 0.5, "cumulative": 1.5},
        {"group": "man", "up_to": 1.0, "cumulative": 4.0},
        {"group": "man", "up_to": None, "cumulative": 5.0},
    ]
    assert found.frame().equals(pl.DataFrame(found.table()))


def test_a_missing_polars_is_named_with_its_remedy(
    platform: Platform, auditor: Auditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform.releases(match_count_release(platform.key, {"g0": 93, "g1": 88}))
    found = auditor.audits.match_count(AUDIENCE_ID, epsilon=0.5)
    monkeypatch.setattr("auditor_client.local.data_frame.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"platform-auditor\[logs\]") as refused:
        found.frame()
    assert refused.value.case == "no-polars"


def test_the_chart_of_a_choice_has_all_contents_and_one_line(
    platform: Platform, auditor: Auditor
) -> None:
    platform.releases(most_skewed_release(platform.key, BOTH, 1))
    found = auditor.audits.most_skewed(BOTH, AUDIENCE_ID, bins=2, epsilon=1)
    [figure] = found.figures()
    drawn = charts.svg(figure.chart)
    assert all(content.title in drawn for content in BOTH)
    assert drawn.count('aria-roledescription="rule mark"') == 1


def test_gaussian_noise_is_asked_for_by_name(platform: Platform, auditor: Auditor) -> None:
    paid = price(1.0, 4.0, "discrete-gaussian")
    platform.releases(release(platform.key, {"g0": [4, 6, 0], "g1": [5, 4, 1]}, paid=paid))
    audit = auditor.audits.run(
        CONTENT_ID, AUDIENCE_ID, bins=2, mechanism="discrete-gaussian", rho=0.5
    )
    assert audit.counts == {"man": [4, 6, 0], "woman": [5, 4, 1]}
    asked = platform.asked()
    assert (asked["mechanism"], asked["rho"], asked["epsilon"]) == (
        "discrete-gaussian",
        "0.5",
        None,
    )


def test_any_kind_is_read_again_by_result(platform: Platform, auditor: Auditor) -> None:
    platform.releases(match_count_release(platform.key, {"g0": 93, "g1": 88}))
    found = auditor.audits.match_count(AUDIENCE_ID)
    again = auditor.audits.result(AUDIT_ID)
    assert isinstance(again, MatchCountResult)
    assert again == found
    with refuses(InputError, "another-kind", "match-count"):
        auditor.audits.get(AUDIT_ID)


def test_a_match_count_nobody_signed_is_caught(platform: Platform, auditor: Auditor) -> None:
    platform.releases(match_count_release(platform_key(), {"g0": 93, "g1": 88}))
    with refuses(ReceiptError, "wrong-signature"):
        auditor.audits.match_count(AUDIENCE_ID)


def test_a_release_of_another_kind_than_paid_for_is_caught(
    platform: Platform, auditor: Auditor
) -> None:
    platform.releases(match_count_release(platform.key, {"g0": 93, "g1": 88}))
    with refuses(ReceiptError, "not-what-was-asked", "kind"):
        auditor.audits.score_cdf(CONTENT_ID, AUDIENCE_ID, bins=2)


@pytest.mark.parametrize(
    "wrong", [{"contents": [CONTENT_ID]}, {"weights": (0, 1)}, {"epsilon": 0}, {"bins": [1, 0]}]
)
def test_what_cannot_be_asked_is_refused_here(
    platform: Platform, auditor: Auditor, wrong: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"contents": [CONTENT_ID, OTHER_ID], "bins": 2} | wrong
    with pytest.raises(InputError):
        auditor.audits.most_skewed(asked.pop("contents"), AUDIENCE_ID, **asked)
    assert not platform.service.requests("POST", "/v1/audits")


def test_several_audits_are_priced_together(
    service: ScriptedService, platform: Platform, auditor: Auditor
) -> None:
    quotes = [quote(price()), quote(price_of(part("matched")))]
    batch = BatchQuote(quotes=quotes, debits={"epsilon": Decimal("4.5")}, covered=True)
    service.on("POST", "/v1/audits/prices", answer(batch.model_dump(mode="json")))
    asking = auditor.audits.requests
    found = auditor.audits.price_all(
        [
            auditor.audits.request(CONTENT_ID, AUDIENCE_ID, bins=2),
            asking.match_count(AUDIENCE_ID),
        ]
    )
    assert found == batch
    [asked] = service.requests("POST", "/v1/audits/prices")
    kinds = [one["kind"] for one in json.loads(asked.body)]
    assert kinds == ["score-histogram", "match-count"]
    assert not service.requests("POST", "/v1/audits")
