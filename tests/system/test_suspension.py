"""Suspension of a mandate by a regulator, and its effect on charged audits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.errors import ConflictError, MandateError, NotFoundError, RequestError
from auditor_client.ledger import verify_file
from openapi.resources import Mandate
from platform_sim import World
from tests.refusals import refuses
from tests.system.raw import Raw, raw, refused, request_for, unchanged, usernames
from tests.system.test_ledger import trust_of
from tests.world import Deployment, deployed


@pytest.fixture(scope="module")
def idle(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """Without a worker of its own: an audit stays charged until a test runs it."""
    with deployed(new_database(), platform, embedded_worker=False) as running:
        yield running


class Case:
    """An auditor with one mandate, and audits to be charged to it."""

    def __init__(self, deployment: Deployment, world: World, **mandate: Any) -> None:
        self.deployment = deployment
        self.auditor: Auditor = deployment.auditor(epsilon="20", **mandate)
        self.me: Raw = raw(deployment, self.auditor)
        self.content = self.me.content()
        self.audience = self.me.audience({"g0": usernames(world, 4)})

    @property
    def mandate(self) -> Mandate:
        return self.auditor.budget().mandates[0]

    def body(self, **changes: object) -> dict[str, Any]:
        return request_for(self.content, self.audience, epsilon="1", size_epsilon="0", **changes)

    def charged(self, key: str | None = None) -> str:
        answer = self.me.submit(self.body(), key)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def state(self, audit_id: str) -> str:
        return str(self.me.get(f"/v1/audits/{audit_id}").json()["state"])


def test_suspended_audits_wait_and_are_run_after_resumption(idle: Deployment, world: World) -> None:
    case, other = Case(idle, world), Case(idle, world)
    worker, mandates = idle.service.worker(), idle.regulator.mandates
    waiting, elsewhere = case.charged("first-of-all"), other.charged()
    suspended = mandates.suspend(case.mandate.id, "a complaint is looked into")
    assert suspended.state == case.mandate.state == "suspended"
    with unchanged(idle.service.store):
        refused(case.me.submit(case.body()), "mandate-suspended", case.mandate.id)
        refused(case.me.post("/v1/audits/price", case.body()), "mandate-suspended")
        named = case.body(mandate_id=case.mandate.id)
        refused(case.me.submit(named), "mandate-suspended")
        # A retry is answered as before: it was charged before the suspension.
        assert case.me.submit(case.body(), "first-of-all").json()["id"] == waiting
    assert worker.run_one()  # another auditor's, although it was charged later
    assert not worker.run_one()
    assert (case.state(waiting), other.state(elsewhere)) == ("charged", "released")
    resumed = mandates.resume(case.mandate.id, "nothing was found")
    assert resumed.state == "active"
    assert worker.run_one()
    assert case.state(waiting) == "released"
    assert case.charged()


def test_what_runs_when_a_mandate_is_suspended_or_terminated_finishes(
    idle: Deployment, world: World
) -> None:
    worker, mandates = idle.service.worker(), idle.regulator.mandates
    for act in (mandates.suspend, mandates.terminate):
        case = Case(idle, world)
        running = case.charged()
        while (claimed := worker._claim()) is not None and claimed.id != running:
            pass
        assert claimed is not None
        act(case.mandate.id, "now")
        assert case.state(running) == "running"
        worker._release([worker._execute(claimed)])
        assert case.state(running) == "released"
        assert case.mandate.spent == Decimal(2)


def test_an_auditor_may_cancel_what_waits(idle: Deployment, world: World) -> None:
    case = Case(idle, world)
    waiting = case.charged()
    idle.regulator.mandates.suspend(case.mandate.id, "wait")
    assert case.auditor.audits.cancel(waiting).state == "cancelled"
    assert case.mandate.spent == 0


def test_termination_cancels_and_refunds_what_was_not_begun(idle: Deployment, world: World) -> None:
    case = Case(idle, world)
    charged = [case.charged() for _ in range(3)]
    assert case.mandate.spent == Decimal(6)
    auditor_id = case.mandate.auditor_id
    ended = idle.regulator.mandates.terminate(case.mandate.id, "the conditions are not met")
    assert (ended.state, ended.spent) == ("terminated", Decimal(0))
    assert [case.state(each) for each in charged] == ["cancelled"] * 3
    assert all(charge.refunded for charge in idle.regulator.charges(auditor_id=auditor_id))
    kinds = [e.kind for e in idle.regulator.ledger.entries() if e.auditor_id == auditor_id][:4]
    assert kinds == ["refund"] * 3 + ["termination"]
    while idle.service.worker().run_one():
        pass
    assert [case.state(each) for each in charged] == ["cancelled"] * 3
    refused(case.me.submit(case.body()), "mandate-expired", "terminated")
    for act, why in (
        (idle.regulator.mandates.suspend, "terminated"),
        (idle.regulator.mandates.resume, "terminated"),
        (idle.regulator.mandates.terminate, "terminated-already"),
    ):
        with refuses(ConflictError, why):
            act(case.mandate.id, "again")
    with refuses(ConflictError, "terminated"):
        idle.regulator.mandates.change(case.mandate.id, "after all", epsilon_limit="5")


def test_another_mandate_pays_while_one_is_suspended(idle: Deployment, world: World) -> None:
    case = Case(idle, world)
    first = case.mandate
    idle.grant(first.auditor_id, "5", valid_until=datetime.now(UTC) + timedelta(days=9))
    idle.regulator.mandates.suspend(first.id, "this one")
    made = case.me.submit(case.body()).json()
    assert made["mandate_id"] != first.id


def test_states_that_do_not_follow_are_refused(idle: Deployment, world: World) -> None:
    case, mandates = Case(idle, world), idle.regulator.mandates
    with refuses(ConflictError, "active"):
        mandates.resume(case.mandate.id, "it is not suspended")
    mandates.suspend(case.mandate.id, "once")
    with refuses(ConflictError, "suspended"):
        mandates.suspend(case.mandate.id, "twice")
    with pytest.raises(NotFoundError):
        mandates.suspend("mandate_" + "0" * 30, "whose?")


def test_a_change_takes_effect_at_once_and_leaves_the_rest(idle: Deployment, world: World) -> None:
    case, mandates = Case(idle, world), idle.regulator.mandates
    case.charged()
    before = case.mandate
    later = before.valid_until + timedelta(days=30)
    changed = mandates.change(before.id, "less", epsilon_limit="3", valid_until=later)
    assert [changed.epsilon_limit, changed.spent, changed.remaining] == [3, 2, 1]
    assert (changed.valid_until, changed.kinds) == (later, before.kinds)
    refused(case.me.submit(case.body()), "budget-exhausted", "3")
    lower = mandates.change(before.id, "even less", epsilon_limit="1")
    assert [lower.spent, lower.remaining] == [2, 0]
    assert mandates.change(before.id, "kinds", kinds=["match-count"]).kinds == ["match-count"]
    refused(case.me.submit(case.body()), "no-mandate")


@pytest.mark.parametrize(
    ("change", "case", "named"),
    [
        ({"rho_limit": "1"}, "another-currency", "epsilon"),
        ({"lifetime_limit": "9"}, "no-renewal", "lifetime_limit"),
        ({"valid_until": datetime(2000, 1, 1, tzinfo=UTC)}, "empty-period", "valid_from"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(
    idle: Deployment, world: World, change: dict[str, Any], case: str, named: str
) -> None:
    mandate = Case(idle, world).mandate
    with unchanged(idle.service.store), refuses(RequestError, case, named):
        idle.regulator.mandates.change(mandate.id, "no", **change)


def test_a_mandate_of_named_individuals_pays_for_nobody_else(
    idle: Deployment, world: World
) -> None:
    case = Case(idle, world)
    auditor_id = case.mandate.auditor_id
    ada = case.auditor.me().id
    idle.regulator.mandates.terminate(case.mandate.id, "make room")
    idle.regulator.mandates.grant(
        auditor_id,
        purpose="by name",
        epsilon_limit="10",
        valid_until=datetime.now(UTC) + timedelta(days=9),
        researcher_ids=[ada],
    )
    assert case.charged()
    grace = idle.researcher(auditor_id)
    me = raw(idle, grace)
    with unchanged(idle.service.store):
        body = case.body()
        refused(me.submit(body), "no-mandate", "researchers", "Nothing was charged")
    with pytest.raises(MandateError):
        grace.audits.price(case.content["id"], case.audience["id"], bins=4, epsilon=1)
    stranger = idle.auditor().me().id
    with pytest.raises(NotFoundError, match=stranger):
        idle.regulator.mandates.grant(
            auditor_id,
            purpose="to a stranger",
            epsilon_limit="10",
            valid_until=datetime.now(UTC) + timedelta(days=9),
            researcher_ids=[stranger],
        )


def test_nothing_is_charged_after_a_suspension_however_close(
    idle: Deployment, world: World
) -> None:
    """The order of the entries tells: it is checked again by the offline verifier below."""
    case = Case(idle, world)
    mandate = case.mandate

    def submit(_: int) -> int:
        return case.me.submit(case.body()).status_code

    def suspend() -> None:
        idle.regulator.mandates.suspend(mandate.id, "in the middle")

    with ThreadPoolExecutor(4) as pool:
        first = [pool.submit(submit, number) for number in range(4)]
        suspending = pool.submit(suspend)
        rest = [pool.submit(submit, number) for number in range(4)]
        suspending.result()
        answers = {each.result() for each in first + rest}
    assert answers <= {202, 403}
    found = idle.regulator.ledger.entries()
    kinds = [e.kind for e in found if e.auditor_id == mandate.auditor_id and e.kind != "refusal"]
    assert "charge" not in kinds[: kinds.index("suspension")]


def test_the_offline_verifier_follows_all_of_this(idle: Deployment, tmp_path: Path) -> None:
    idle.service.checkpointer().once()
    found = verify_file(idle.regulator.ledger.export(tmp_path / "all.jsonl"), trust_of(idle))
    for kind in ("suspension", "resumption", "termination", "mandate-change", "refund"):
        assert found.counts[kind] >= 1
