"""Audits of envy, end to end: found, paid for in two currencies, waited for, stopped."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from api.db import GroupRow
from api.kinds.envy_freeness import COVERED, drawn_from
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.errors import ProblemError
from auditor_client.ledger import verify_file
from openapi.resources import EnvyFreenessRelease, EnvyFreenessRequest
from tests.exploring import (
    SMALL,
    ByNumber,
    asked,
    consenting_sample,
    exploring_auditor,
    stop,
)
from tests.refusals import refuses
from tests.system.test_ledger import trust_of
from tests.vetting import operator
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long_on_postgresql

# Rewards with this difference decide soon.
SIZES = {"targets": 24, "arms": 19, "steps": 500, "tolerance": "0.5"}
FEW = SMALL | {"steps": 500}
SECRET = 77


@pytest.fixture(scope="module")
def exploring(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    """A deployment whose people of odd numbers are served badly."""
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    with (
        patch("api.kinds.envy_freeness.secrets.randbits", lambda _: SECRET),
        deployed(url, replace(platform, policies=ByNumber())) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    """The same, with steps that last a tenth of a second, and no worker of its own."""
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    policies = ByNumber(step_seconds=0.1)
    with deployed(url, replace(platform, policies=policies), embedded_worker=False) as running:
        yield running


def ended(auditor: Auditor, audit_id: str) -> str:
    until = time.monotonic() + 60
    while (state := auditor.audits.state(audit_id).state) in ("charged", "running"):
        assert time.monotonic() < until
        time.sleep(0.02)
    return state


def released(auditor: Auditor, audit_id: str) -> EnvyFreenessRelease:
    assert ended(auditor, audit_id) == "released"
    answer = auditor._transport.get(f"/v1/audits/{audit_id}/release", EnvyFreenessRelease)
    assert isinstance(answer, EnvyFreenessRelease)
    return answer


def odd_targets(deployment: Deployment, request: EnvyFreenessRequest) -> tuple[int, int]:
    """Count the targets with odd and with even numbers."""
    with deployment.service.store.read() as session:
        people = session.get_one(GroupRow, (request.audience_id, "g0")).people or b""
    everybody = np.sort(np.frombuffer(people, "<i8"))
    odd = drawn_from(everybody, request, SECRET).targets % 2
    return int(odd.sum()), int((1 - odd).sum())


def check_ledger(deployment: Deployment, folder: Path) -> None:
    """A regulator's verifier finds nothing wrong."""
    deployment.service.checkpointer().once()
    verify_file(deployment.regulator.ledger.export(folder / "all.jsonl"), trust_of(deployment))


def refused(auditor: Auditor, request: Any) -> ProblemError:
    with pytest.raises(ProblemError) as found:
        auditor.audits.submit(request)
    assert all(mandate.spent == 0 for mandate in auditor.budget().mandates)
    return found.value


def test_envy_is_found_and_paid_for_in_two_currencies(
    exploring: Deployment, tmp_path: Path
) -> None:
    auditor = exploring_auditor(exploring, loss="10000")
    audience = consenting_sample(auditor, 850)
    assert audience.consented
    request = asked(audience.id, **SIZES)
    [quote] = auditor.audits.price_all([request]).quotes
    assert [quote.exploration_before, quote.exploration_after] == [10_000, 4_000]
    assert quote.covered
    assert quote.buys == 1
    audit = auditor.audits.submit(request)
    assert audit.price.exploration_loss == 6_000
    release = released(auditor, audit.id)
    odd, even = odd_targets(exploring, request)
    assert odd + even == 24
    # With noise of scale 0.4 a count is off by seven or more with a probability of 5e-8.
    assert abs(release.envious - odd) <= 6
    assert abs(release.no_envy - even) <= 6
    assert release.level == pytest.approx(0.1 / 72)
    assert release.price == audit.price
    assert (release.arms_per_person, release.criterion) == (1, "probabilistic")
    assert COVERED.format(r=1) in release.rules
    [mandate] = auditor.budget().mandates
    assert [mandate.spent, mandate.exploration_spent] == [audit.price.debit, 6_000]
    assert mandate.exploration_remaining == 4_000
    [charge] = exploring.regulator.charges(auditor_id=mandate.auditor_id)
    assert charge.exploration_loss == 6_000
    # What is left does not cover another: nothing is charged, and no epsilon either.
    with pytest.raises(ProblemError, match=r"\b6000\b.*\[exploration-exhausted\]") as found:
        auditor.audits.submit(request)
    assert found.value.code == "exploration-exhausted"
    assert auditor.budget().mandates == [mandate]
    check_ledger(exploring, tmp_path)


def test_people_who_take_part_more_often_are_covered_by_more_noise(exploring: Deployment) -> None:
    auditor = exploring_auditor(exploring)
    audience = consenting_sample(auditor, 400)
    sizes = {"targets": 12, "arms": 17, "steps": 400, "tolerance": "1"}
    scales = []
    for each in (1, 3):
        audit = auditor.audits.submit(asked(audience.id, **sizes, arms_per_person=each))
        release = released(auditor, audit.id)
        assert COVERED.format(r=each) in release.rules
        parts = {part.name: part for part in release.price.parts}
        scales.append(parts["counts"].noise_scale)
    assert scales == pytest.approx([0.4, 1.2])


def test_people_as_arms_cannot_be_left_uncovered(exploring: Deployment) -> None:
    """Neither by the exact criterion nor by leaving out how often one person takes part."""
    auditor = exploring_auditor(exploring)
    audience = consenting_sample(auditor, 30)
    exact = {"criterion": "exact", "gamma": None, "lam": None, "targets": 30, "arms": 29}
    for changes in (exact, SMALL):
        request = asked(audience.id, **changes | {"arms_per_person": None})
        assert refused(auditor, request).code == "unsupported-audit"


def test_what_is_refused_costs_nothing(exploring: Deployment) -> None:
    auditor = exploring_auditor(exploring, loss="0")
    audience = consenting_sample(auditor, 10)
    error = refused(auditor, asked(audience.id, **FEW))
    assert error.code == "exploration-exhausted"
    silent = consenting_sample(auditor, 10, consented=False)
    assert refused(auditor, asked(silent.id, **FEW)).code == "no-consent"
    few = asked(audience.id, **FEW | {"steps": 2})
    assert "at least" in str(refused(auditor, few))
    alone = consenting_sample(auditor, 1)
    assert refused(auditor, asked(alone.id, **FEW)).code == "unsupported-audit"


def test_an_audit_waits_in_the_queue_until_a_regulator_stops_it(
    slow: Deployment, tmp_path: Path
) -> None:
    auditor, worker = exploring_auditor(slow, "5000"), slow.service.worker()
    audience = consenting_sample(auditor, 10)
    audit = auditor.audits.submit(asked(audience.id, **FEW))
    assert worker.run_one()
    assert auditor.audits.state(audit.id).state == "running"
    # Its next batch is not due: nobody takes it up, and the worker is free.
    assert not worker.run_one()
    shown = stop(slow.regulator, audit.id)
    assert (shown.audit_id, shown.state) == (audit.id, "running")
    with refuses(ProblemError, "ended-already"):
        stop(slow.regulator, audit.id)
    until = time.monotonic() + 30
    while not worker.run_one():
        assert time.monotonic() < until
        time.sleep(0.05)
    after = auditor.audits.state(audit.id)
    assert (after.state, after.failure) == ("failed", "stopped")
    with pytest.raises(ProblemError):
        auditor._transport.get(f"/v1/audits/{audit.id}/release", EnvyFreenessRelease)
    [mandate] = auditor.budget().mandates
    assert [mandate.spent, mandate.exploration_spent] == [audit.price.debit, 750]
    check_ledger(slow, tmp_path)


def test_what_an_operator_stops_before_it_began_is_refunded(
    slow: Deployment, tmp_path: Path
) -> None:
    auditor = exploring_auditor(slow, "5000")
    audience = consenting_sample(auditor, 10)
    audit = auditor.audits.submit(asked(audience.id, **FEW))
    [before] = auditor.budget().mandates
    assert before.exploration_spent == 750
    staff = operator(slow)
    assert stop(staff, audit.id, "operator").state == "cancelled"
    [mandate] = auditor.budget().mandates
    assert [mandate.spent, mandate.exploration_spent] == [0, 0]
    check_ledger(slow, tmp_path)
    with refuses(ProblemError, "ended-already"):
        stop(staff, audit.id, "operator")
    for who, role in ((staff, "regulator"), (auditor, "regulator"), (auditor, "operator")):
        with pytest.raises(ProblemError) as found:
            stop(who, audit.id, role)
        assert found.value.code == "forbidden"


def test_only_what_shows_people_something_is_stopped(slow: Deployment) -> None:
    auditor = exploring_auditor(slow)
    audience = consenting_sample(auditor, 10)
    counted = auditor.audits.requests.match_count(audience.id, epsilon="1")
    audit = auditor.audits.submit(counted)
    with refuses(ProblemError, "nothing-shown"):
        stop(slow.regulator, audit.id)
    with pytest.raises(ProblemError, match=r"\[not-found\]"):
        stop(slow.regulator, "audit_" + "0" * 30)
