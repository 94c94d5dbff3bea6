"""Group commit: waiting charges commit in one transaction, each as if alone."""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import httpx2
import numpy as np
import pytest
from sqlmodel import Session, col, select

from api.accounting import charge as charging
from api.accounting.charge import ChargeOrder
from api.db import AuditRow, ChargeRow, EntryRow, ExclusionRow
from api.ledger import lock
from api.operations.reconciliation import inspect
from api.platforms.interfaces import Platform
from platform_sim import World
from tests.system.raw import Raw, raw, refused, request_for, usernames
from tests.world import Deployment, deployed


@dataclass(frozen=True)
class Someone:
    """A researcher of an auditor of their own, and what they ask for: it costs 2."""

    me: Raw
    body: dict[str, Any]

    def submit(self, key: str | None = None) -> httpx2.Response:
        return self.me.submit(self.body, key)

    @property
    def spent(self) -> str:
        [mandate] = self.me.get("/v1/budget").json()["mandates"]
        return str(mandate["spent"])


def comes(host: Deployment, names: Sequence[str], epsilon: str = "100") -> Someone:
    me = raw(host, host.auditor(epsilon))
    audience = me.audience({"g0": names})
    return Someone(me, request_for(me.content(), audience, size_epsilon="0"))


def at_once(
    host: Deployment, asked: Sequence[Callable[[], httpx2.Response]]
) -> list[httpx2.Response]:
    """All of them wait before anybody is charged."""
    charge, until = host.service.submissions._charge, time.monotonic() + 60
    with ThreadPoolExecutor(len(asked)) as pool:
        with host.service.store.write() as session:
            lock(session)
            answers = [pool.submit(each) for each in asked]
            while len(charge._waiting) < len(asked):
                assert time.monotonic() < until, "they do not wait"
                time.sleep(0.01)
        return [answer.result() for answer in answers]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of bills in each transaction that charged any."""
    found, charge = list[int](), charging.charge

    def counting(session: Session, at: Any, bills: Sequence[ChargeOrder], settings: Any) -> None:
        charge(session, at, bills, settings)
        found.append(len(bills))

    monkeypatch.setattr(charging, "charge", counting)
    return found


def charges(host: Deployment, answers: Sequence[httpx2.Response]) -> list[ChargeRow]:
    asked = [answer.json()["id"] for answer in answers]
    with host.service.store.read() as session:
        query = select(ChargeRow).where(col(ChargeRow.audit_id).in_(asked))
        rows = {row.audit_id: row for row in session.exec(query)}
    return [rows[audit] for audit in asked]


def sound(host: Deployment) -> bool:
    return inspect(host.service.store, Fraction(host.service.settings.person_lifetime_rho)).sound


def test_all_who_wait_are_charged_in_one_transaction(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    """Some of the people are in several audiences, and bear all of it."""
    names = usernames(world, 30)
    everybody = [comes(idle, names[5 * number : 5 * number + 10]) for number in range(5)]
    answers = at_once(idle, [each.submit for each in everybody])
    assert [answer.status_code for answer in answers] == [202] * 5
    assert batches == [5]
    assert [each.spent for each in everybody] == ["2"] * 5
    rows = charges(idle, answers)
    assert len({row.charged_at for row in rows}) == 1
    with idle.service.store.read() as session:
        written = select(EntryRow).where(EntryRow.kind == "charge").order_by(col(EntryRow.number))
        newest = [json.loads(entry.text) for entry in session.exec(written).all()[-5:]]
        places = session.exec(select(AuditRow.turn).where(AuditRow.state == "charged")).all()
    assert {(each["facts"]["charge_id"], each["auditor"]) for each in newest} == {
        (row.id, row.auditor_id) for row in rows
    }
    assert len({entry["statement"]["by"] for entry in newest}) == 5
    assert len(places) >= 5
    assert sound(idle)


def test_who_is_refused_is_refused_alone(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    names = usernames(world, 20)
    rich, poor, other = (
        comes(idle, some, epsilon)
        for some, epsilon in ((names[:10], "100"), (names[:10], "1"), (names[10:], "2"))
    )
    answers = at_once(idle, [each.submit for each in (rich, poor, other)])
    refused(answers[1], "epsilon-above-mandate")
    assert [answers[number].status_code for number in (0, 2)] == [202, 202]
    assert batches == [1, 1]
    assert (rich.spent, poor.spent, other.spent) == ("2", "0", "2")
    assert sound(idle)


def test_audits_of_one_auditor_are_charged_one_after_the_other(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    """The second finds what the first has left."""
    names = usernames(world, 20)
    mine, other = comes(idle, names[:10], "3"), comes(idle, names[10:])
    answers = at_once(idle, [mine.submit, mine.submit, other.submit])
    assert sorted(answer.is_success for answer in answers) == [False, True, True]
    assert sorted(batches) in ([1, 1], [2])
    assert (mine.spent, other.spent) == ("2", "2")


def test_a_key_that_is_used_twice_at_once_is_charged_once(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    names = usernames(world, 20)
    mine, other = comes(idle, names[:10]), comes(idle, names[10:])
    again = partial(mine.submit, "once-and-for-all")
    first, second, third = at_once(idle, [again, again, other.submit])
    assert first.json() == second.json() != third.json()
    assert sum(batches) == 2
    assert (mine.spent, other.spent) == ("2", "2")


def test_an_earlier_audit_is_answered_in_addition_to_new_ones(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    names = usernames(world, 20)
    mine, other = comes(idle, names[:10]), comes(idle, names[10:])
    before = mine.submit("an-earlier-one")
    batches.clear()
    again, new = at_once(idle, [partial(mine.submit, "an-earlier-one"), other.submit])
    assert again.json() == before.json()
    assert new.is_success
    assert batches == [1]
    assert (mine.spent, other.spent) == ("2", "2")


def test_large_audiences_are_charged_alone(
    idle: Deployment, world: World, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory for one transaction is bounded."""
    monkeypatch.setattr("api.audits.submission.BATCH", 15)
    names = usernames(world, 20)
    everybody = [comes(idle, names[:10]), comes(idle, names[10:]), comes(idle, names[:5])]
    answers = at_once(idle, [each.submit for each in everybody])
    assert all(answer.is_success for answer in answers)
    assert sorted(batches) == [1, 2]
    assert sound(idle)


def test_who_cannot_be_asked_yet_is_refused_alone(
    idle: Deployment, world: World, batches: list[int]
) -> None:
    names = usernames(world, 30)
    early, *others = (comes(idle, names[10 * number : 10 * number + 10]) for number in range(3))
    opened = early.me.audience({"g0": names}, seal=False)
    unsealed = partial(early.me.submit, early.body | {"audience_id": opened["id"]})
    refusal, *answers = at_once(idle, [unsealed, *(each.submit for each in others)])
    refused(refusal, "audience-not-sealed")
    assert all(answer.is_success for answer in answers)
    assert batches == [2]


def test_a_batch_above_the_platform_budget_is_charged_one_by_one(
    new_database: Callable[[], str], platform: Platform, world: World, batches: list[int]
) -> None:
    """Each costs 2 of rho, and there are 5 of it."""
    limits = {"embedded_worker": False, "platform_rho": Decimal(5)}
    with deployed(new_database(), platform, **limits) as host:
        names = usernames(world, 30)
        everybody = [comes(host, names[10 * number : 10 * number + 10]) for number in range(3)]
        answers = at_once(host, [each.submit for each in everybody])
        [late] = [answer for answer in answers if not answer.is_success]
        refused(late, "platform-exhausted")
        assert batches == [1, 1]
        assert sorted(each.spent for each in everybody) == ["0", "2", "2"]
        assert sound(host)


def test_a_person_within_the_cap_for_one_of_two_is_debited_for_the_first(
    new_database: Callable[[], str], platform: Platform, world: World, batches: list[int]
) -> None:
    """Each costs 2 of rho, and a person may bear 3."""
    limits = {"embedded_worker": False, "person_lifetime_rho": Decimal(3)}
    with deployed(new_database(), platform, **limits) as host:
        names = usernames(world, 15)
        first, second = comes(host, names[:10]), comes(host, names[5:])
        answers = at_once(host, [first.submit, second.submit])
        assert batches == [2]
        with host.service.store.read() as session:
            entries = select(EntryRow.text).where(EntryRow.kind == "charge")
            made = [
                json.loads(text) for text in session.exec(entries.order_by(col(EntryRow.number)))
            ]
            [left_out] = session.exec(select(ExclusionRow)).all()
        assert left_out.audit_id == made[-1]["facts"]["audit_id"]
        assert {left_out.audit_id, made[0]["facts"]["audit_id"]} == {
            answer.json()["id"] for answer in answers
        }
        able = np.unpackbits(np.frombuffer(left_out.able, np.uint8), count=10)
        assert able.sum() == 5
        assert sound(host)
