"""Audits of envy through the SDK: what is sent, and what comes back."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from auditor_client import Auditor, EnvyFreenessResult, InputError, ReceiptError
from auditor_client.envy.lots import arms_per_person_for
from auditor_client.envy.options import EnvyOptions
from auditor_client.errors import ExplorationExhaustedError, NoConsentError, error_of
from auditor_client.kinds.analysis import analyse
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.kinds.registry import AUDITOR_KINDS
from auditor_client.local.audience_records import Record, save_record
from auditor_client.stats.noise_distributions import Laplace
from openapi.problems import problem
from openapi.resources import EnvyFreenessRelease
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    NAMES,
    common,
    key_set,
    part,
    price_of,
    quote,
    signed,
)
from tests.auditor_client.kinds.test_registry import Platform
from tests.auditor_client.scripted import ScriptedService, answer
from tests.refusals import refuses


def released(key: OKPKey, **changes: Any) -> EnvyFreenessRelease:
    fields: dict[str, Any] = {
        "kind": "envy-freeness", "criterion": "probabilistic", "bounds": "tight",
        "alpha": "0.2", "tolerance": "0.05", "delta": "0.05", "gamma": "0.1", "lam": "0.1",
        "targets": 73, "arms": 80, "steps": 5000, "arms_per_person": 1,
        "level": 0.05 / (3 * 73), "envious": 1, "no_envy": 72,
        "duration": 146_000, "cost": 7_300_000, "unit": 1000,
    }  # fmt: skip
    parts = part("counts"), part("duration", 2e4, error=60_000), part("cost", 2e7, error=6 * 10**7)
    paid = price_of(*parts).model_copy(update={"exploration_loss": Decimal(73_000)})
    made = EnvyFreenessRelease.model_validate(fields | changes | {"price": paid} | common())
    return signed(made, key)


@pytest.fixture
def platform(service: ScriptedService) -> Platform:
    return Platform(service)


@pytest.fixture
def auditor(service: ScriptedService, platform: Platform) -> Iterator[Auditor]:
    save_record(AUDIENCE_ID, Record(NAMES))
    with Auditor(service.url, "r", OKPKey.generate_key("Ed25519")) as made:
        yield made


def uploaded(service: ScriptedService, members: int, source: str = "upload") -> None:
    """Serve the audience, with this number of people in two groups."""
    fields = {"id": AUDIENCE_ID, "state": "sealed", "source": source, "groups_per_person": 1}
    groups = [{"label": label, "members": members // 2, "parts": []} for label in NAMES]
    found = {**fields, "groups": groups, "created_at": "2026-05-04T12:00:00Z"}
    service.on("GET", f"/v1/audiences/{AUDIENCE_ID}", answer(found))


# As the release has them: with these, nothing is chosen.
SIZES = EnvyOptions(targets=73, arms=80, arms_per_person=1, steps=5000)


def test_a_run_asks_for_what_was_given(platform: Platform, auditor: Auditor) -> None:
    platform.releases(released(platform.key))
    found = auditor.audits.envy_freeness(AUDIENCE_ID, progress=False, **SIZES)
    asked = platform.asked()
    assert (asked["targets"], asked["arms"], asked["delta"]) == (73, 80, "0.05")
    assert asked["arms_per_person"] == 1
    assert (asked["tolerance"], asked["alpha"], asked["bounds"]) == ("0.05", "0.2", "tight")
    certificate = found.certificate()
    assert (certificate.verdict, certificate.rule.certify_up_to) == ("envy-free", 1)
    assert found.noise == Laplace(1.0)
    assert (found.steps_per_target, found.cost_per_target) == (2000, 100)
    assert found.loss_at_most == Decimal(73_000)


def test_a_result_says_it_in_one_row(platform: Platform) -> None:
    found = EnvyFreenessResult(released(platform.key), key_set(platform.key))
    numbers = found.numbers()
    assert numbers["statement"].startswith("Certified envy-free: at most 10 % of people")
    assert numbers["error_of_steps_95"] == pytest.approx(60_000 / 73)
    assert numbers["share_at_most"] <= 0.1
    assert analyse(found).numbers == numbers
    silent = released(platform.key, duration=None, cost=None)
    assert "cost_per_target" not in EnvyFreenessResult(silent, key_set(platform.key)).numbers()


def test_the_report_has_the_certificate_and_what_to_check(
    platform: Platform, tmp_path: Path
) -> None:
    made = released(platform.key, envious=9, no_envy=60)
    text = (
        EnvyFreenessResult(made, key_set(platform.key)).report(tmp_path / "envy.html").read_text()
    )
    assert '<div class="verdict unfair"><p><strong>Unfair: at least ' in text
    assert "at least 6 of the 73 people who were audited are envious" in text
    assert "<td>60</td><td>±3</td>" in text
    assert "With probability 98.3 % everybody kept, at every step, at least 80 %" in text
    assert "then lost at most 73,000, which the mandate was debited" in text
    assert made.receipt in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("members", "source", "chosen"),
    [
        (20_000, "upload", (130, 86, 1)),
        (40_000, "sample", (230, 91, 1)),
    ],
)
def test_sizes_follow_from_the_people_in_the_audience(
    service: ScriptedService,
    auditor: Auditor,
    members: int,
    source: str,
    chosen: tuple[int, int, int],
) -> None:
    uploaded(service, members, source)
    request = auditor.audits.requests.envy_freeness(AUDIENCE_ID, steps=900)
    assert (request.targets, request.arms, request.arms_per_person) == chosen


def test_people_take_part_more_often_where_they_are_few(
    service: ScriptedService, auditor: Auditor
) -> None:
    uploaded(service, 1_000)
    request = auditor.audits.requests.envy_freeness(AUDIENCE_ID, steps=900, targets=41)
    assert (request.targets, request.arms) == (41, 75)
    assert request.arms_per_person == arms_per_person_for(900, 41, 75) > 1
    # The targets are those with the most power; the forecast says that it is not enough.
    hopeless = auditor.audits.requests.envy_freeness(AUDIENCE_ID, steps=900)
    forecaster = AUDITOR_KINDS[hopeless.kind].forecaster
    assert forecaster is not None
    told = forecaster(hopeless, ForecastAudience({"all": 1_000}), None)  # type: ignore[arg-type]
    assert told.answers is False
    uploaded(service, 60)
    with refuses(InputError, "few-people"):
        auditor.audits.requests.envy_freeness(AUDIENCE_ID, steps=900)


def test_receipts_of_everybody_are_still_read(platform: Platform) -> None:
    """By the exact criterion, which earlier versions offered."""
    made = released(
        platform.key, criterion="exact", gamma=None, lam=None, delta="0.025", arms_per_person=None,
        targets=50, arms=49, level=0.025 / 50, envious=0, no_envy=53,
    )  # fmt: skip
    certificate = EnvyFreenessResult(made, key_set(platform.key)).certificate()
    # At scale 1, 3 more than all are needed: P(1 + Z <= -3) <= .025.
    assert (certificate.rule.delta, certificate.rule.certify_up_to) == (0.05, -3)
    assert certificate.verdict == "envy-free"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"arms": 20}, "arms"),
        ({"alpha": "0.5"}, "alpha"),
        ({"level": 0.001}, "level"),
        ({"duration": None}, "duration"),
        ({"arms_per_person": 2}, "arms per person"),
        ({"arms_per_person": None}, "arms per person"),
    ],
)
def test_a_release_of_another_audit_is_refused(
    platform: Platform, auditor: Auditor, changes: dict[str, Any], named: str
) -> None:
    platform.releases(released(platform.key, **changes))
    with refuses(ReceiptError, "not-what-was-asked", named):
        auditor.audits.envy_freeness(AUDIENCE_ID, progress=False, **SIZES)


def test_a_price_says_what_people_may_lose(
    service: ScriptedService, platform: Platform, auditor: Auditor
) -> None:
    paid = released(platform.key).price
    service.on("POST", "/v1/audits/price", answer(quote(paid).model_dump(mode="json")))
    found = auditor.audits.quote(auditor.audits.requests.envy_freeness(AUDIENCE_ID, **SIZES))
    assert found.price.exploration_loss == Decimal(73_000)


def test_bad_input_costs_nothing(service: ScriptedService, auditor: Auditor) -> None:
    too_much: EnvyOptions = {**SIZES, "alpha": 2}
    uploaded(service, 20_000)
    with refuses(InputError, "no-steps"):
        auditor.audits.ask("envy-freeness", audience=AUDIENCE_ID)
    with pytest.raises(InputError, match="alpha"):
        auditor.audits.envy_freeness(AUDIENCE_ID, **too_much)
    with pytest.raises(InputError, match=r"\blam\b"):
        auditor.audits.envy_freeness(AUDIENCE_ID, steps=5000, lam=0)


def test_refusals_have_errors_of_their_own() -> None:
    refused = error_of(problem("no-consent", "nobody agreed"))
    assert isinstance(refused, NoConsentError)
    assert "consented=True" in str(refused)
    amounts = {"limit": "10", "spent": "4", "asked": "8", "remaining": "6"}
    exhausted = error_of(problem("exploration-exhausted", "too much", **amounts))
    assert isinstance(exhausted, ExplorationExhaustedError)
    assert (exhausted.asked, exhausted.remaining) == (Decimal(8), Decimal(6))
