"""Asking the same question again and again, until the noise averages out."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from api.accounting import lifetime_caps
from api.audits.submission import AuditSubmission
from api.mandates import budgets
from platform_sim import World
from privacy.ledger.statements import Statement
from tests.attacks.outside import HISTOGRAM, release_of, run
from tests.system.adapters import Watched
from tests.system.raw import JOB, Raw, raw, refused, request_for, usernames
from tests.world import Deployment

# At epsilon 2 the noise on a cell has a standard deviation of 0.60. The mean of 64 is off by half
# a person or more with probability below 1e-10.
ROUNDS = 64
ASKED = {"kind": HISTOGRAM, "epsilon": "2", "size_epsilon": "0"}


def plan(me: Raw, world: World) -> dict[str, Any]:
    audience = me.audience({"g0": usernames(world, 30)})
    return request_for(me.content(), audience, **ASKED)


def cells(release: Mapping[str, Any]) -> list[int]:
    [group] = release["groups"]
    return [*group["counts"], group["outside"]]


def exact(world: World, watched: Watched) -> list[int]:
    """Return the exact count that the attacker wants."""
    context = {name: values[0] for name, values in watched.context.items()}
    people = world.directory.holders("username")[:30]
    scores = watched.inner.score(JOB | {"image": None}, people, context)
    return [*np.histogram(scores, [0, 0.25, 0.5, 0.75, 1])[0].tolist(), 0]


@pytest.mark.full
def test_without_charges_the_mean_of_many_is_the_exact_answer(
    target: Deployment, world: World, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budgets, "debit", lambda *_: None)
    everybody = [[None]]  # of the one group of the one audience that is charged
    monkeypatch.setattr(lifetime_caps, "charge", lambda *_, **__: everybody)
    me = raw(target, target.auditor(epsilon="1"))
    body = plan(me, world)
    mean = np.mean([cells(release_of(target, me, body)) for _ in range(ROUNDS)], axis=0)
    assert [round(cell) for cell in mean] == exact(world, watched)


def test_with_charges_the_mandate_runs_out(target: Deployment, world: World) -> None:
    auditor = target.auditor(epsilon="8")
    me = raw(target, auditor)
    body = plan(me, world)
    for _ in range(2):
        release_of(target, me, body)
    for _ in range(3):
        problem = refused(me.submit(body), "budget-exhausted", "8 of 8", "spent")
        assert problem["remaining"] == "0"
    assert auditor.budget().mandates[0].spent == 8


def test_a_retry_gets_the_same_bytes_and_costs_nothing(target: Deployment, world: World) -> None:
    auditor = target.auditor(epsilon="100")
    me = raw(target, auditor)
    body = plan(me, world)
    assert len(retried(target, me, body)) == 1
    assert auditor.budget().mandates[0].spent == 4


def test_without_idempotency_each_retry_has_fresh_noise(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = AuditSubmission.submit

    def forgetful(self: AuditSubmission, caller: Any, request: Any, stated: Statement) -> Any:
        return original(self, caller, request, replace(stated, key=secrets.token_hex(8)))

    monkeypatch.setattr(AuditSubmission, "submit", forgetful)
    me = raw(target, target.auditor(epsilon="100"))
    # False failure: at scale 4 five cells come out the same twice with a probability below 1e-5,
    # and ten times below 1e-40.
    retries = retried(target, me, plan(me, world) | {"epsilon": "0.25"})
    assert len({str(cells(json.loads(release))) for release in retries}) > 1


def retried(target: Deployment, me: Raw, body: object) -> set[bytes]:
    """The releases that ten requests with one key lead to."""
    found = set()
    for _ in range(10):
        audit = me.submit(body, key="one-and-the-same").json()
        run(target)
        found.add(me.get(f"/v1/audits/{audit['id']}/release").content)
    return found
