"""An auditor who tries to have people read, or given back to, whom no charge debited.

A hidden audience has nobody in it until a two-party run finds somebody. An audit of another kind
that was charged on it before would debit nobody, read whom the run found, and refund them what
they never paid.
"""

import base64
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client import generate_latest
from sqlmodel import select

from api.accounting.balance_blocks import Blocks
from api.accounting.people_digest import BEFORE_0015
from api.app.compose import make_simulated_platform
from api.audiences.uploads import load_groups
from api.db import AuditRow, ChargeRow, EntryRow, ExclusionRow, GroupRow, MessageRow, ReleaseRow
from api.db.types import PICO
from api.kinds.registry import KINDS
from api.operations.reconciliation import inspect
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from platform_sim import SimulatedPlatform, World
from tests.attacks.conftest import REAL
from tests.attacks.outside import KINDS_OF_AUDIT, body_of
from tests.system.adapters import Watched, on
from tests.system.raw import Raw, raw, refused, request_for, usernames
from tests.two_parties import Conversation, weighted
from tests.world import Deployment, deployed, sqlite_url

ALL_KINDS = (*KINDS_OF_AUDIT, "balance-histogram", "two-party")
NAMED = 10
BINS = {"edges": [0, 0.5, 1]}
# rho = (2 · epsilon)² / 2 under change-one.
EPSILON, RHO = "2.2", Fraction("9.68")


@dataclass
class Scene:
    """A deployment, whom its model was asked about, and an auditor who may ask anything."""

    deployment: Deployment
    watched: Watched
    world: World
    auditor: Auditor
    raw: Raw

    def run_audits(self) -> None:
        service = self.deployment.service
        worker = service.worker()
        while worker.run_one():
            pass

    def balances(self) -> list[Fraction]:
        """Return the balances of the platform's people."""
        with self.deployment.service.store.read() as session:
            spent = Blocks.load(session, np.array([0]))["spent"][: self.world.people]
        return [Fraction(int(each), PICO) for each in spent]

    def state(self, audit_id: str) -> str:
        with self.deployment.service.store.read() as session:
            return session.get_one(AuditRow, audit_id).state

    def waiting(self) -> tuple[Conversation, dict[str, Any]]:
        """A two-party audit on a hidden audience, and the body of another kind on the same."""
        names = usernames(self.world, NAMED)
        hidden = weighted(self.auditor, names, ["a"] * NAMED, hide=True)
        talk = Conversation.begin(self.deployment, self.auditor, hidden, epsilon=1)
        audience = {"id": hidden.audience.wire.id}
        return talk, request_for(self.raw.content(), audience, epsilon=EPSILON, size_epsilon="0")


@pytest.fixture(scope="module")
def platform() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture
def scene(tmp_path: Path, platform: Platform) -> Iterator[Scene]:
    assert platform.scores is not None
    assert isinstance(platform.people, SimulatedPlatform)
    watched = Watched(platform.scores)
    settings = {**REAL, "two_party_candidates": 150}
    with deployed(sqlite_url(tmp_path), on(platform, watched), **settings) as running:
        auditor = running.auditor(
            "1000", kinds=list(ALL_KINDS), opened_share="0", exploration_limit="10000"
        )
        world = platform.people.world
        yield Scene(running, watched, world, auditor, raw(running, auditor))


@pytest.mark.parametrize("kind", KINDS_OF_AUDIT)
def test_no_other_kind_takes_a_hidden_audience(scene: Scene, kind: str) -> None:
    _, body = scene.waiting()
    body = body_of(kind, {"id": body["content_id"]}, {"id": body["audience_id"]})
    refused(scene.raw.submit(body), "unsupported-audience")
    refused(scene.raw.post("/v1/audits/price", body), "unsupported-audience")


def test_balances_are_not_read_of_a_hidden_audience_either(scene: Scene) -> None:
    _, body = scene.waiting()
    asked = {"kind": "balance-histogram", "epsilon": "1", "bins": body["bins"]}
    refused(scene.raw.submit(asked | {"audience_id": body["audience_id"]}), "unsupported-audience")


def test_every_kind_says_which_sources_it_takes() -> None:
    assert set(KINDS) == set(ALL_KINDS)
    assert [name for name, kind in KINDS.items() if "hidden" in kind.sources] == ["two-party"]
    assert all(kind.sources for kind in KINDS.values())


def test_an_audit_that_waits_reads_and_refunds_nobody_whom_it_did_not_debit(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the refusal: what was charged binds the worker and the refund all the same."""
    monkeypatch.setattr(KINDS["score-histogram"], "sources", {"hidden"}, raising=False)
    talk, body = scene.waiting()
    waiting, regretted = (scene.raw.submit(body).json()["id"] for _ in range(2))
    assert talk.talk(talk.party()) is None
    before = scene.balances()
    assert sum(before) == NAMED * 2
    scene.watched.seen.clear()
    scene.raw.made(f"/v1/audits/{regretted}/cancel", None)
    assert scene.balances() == before
    scene.run_audits()
    assert scene.state(waiting) == "failed"
    assert sum(len(persons) for persons in scene.watched.seen) == 0
    assert scene.balances() == before


def somebody_more(groups: list[GroupRow]) -> None:
    groups[0].people = np.append(np.frombuffer(groups[0].people or b"", "<i8"), 100).tobytes()


def groups_exchanged(groups: list[GroupRow]) -> None:
    groups[0].people, groups[1].people = groups[1].people, groups[0].people


def somebody_less(groups: list[GroupRow]) -> None:
    groups[1].people = (groups[1].people or b"")[8:]


@pytest.mark.parametrize("change", [somebody_more, groups_exchanged, somebody_less])
def test_people_who_changed_after_the_charge_are_not_read(
    scene: Scene, change: Callable[[list[GroupRow]], None]
) -> None:
    names = usernames(scene.world, NAMED)
    audience = scene.raw.audience({"g0": names[:5], "g1": names[5:]})
    body = request_for(scene.raw.content(), audience)
    waiting, regretted = (scene.raw.submit(body).json()["id"] for _ in range(2))
    store, settings = scene.deployment.service.store, scene.deployment.service.settings
    with store.write() as session:
        groups = load_groups(session, audience["id"])
        change(groups)
        session.add_all(groups)
    before = scene.balances()
    scene.raw.made(f"/v1/audits/{regretted}/cancel", None)
    scene.run_audits()
    assert (scene.state(waiting), scene.state(regretted)) == ("failed", "cancelled")
    assert scene.watched.seen == []
    # Nobody is given back to who may not have been debited: balances are never too low.
    assert scene.balances() == before
    assert inspect(store, Fraction(10), settings).unbound == 1
    with store.write() as session:
        ended = session.get_one(AuditRow, waiting).finished_at
        charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == waiting)).one()
        charge.people_digest = None
        session.add(charge)
    # The end of a failed audit shows whole seconds, like that of a released one.
    assert ended is not None
    assert ended.microsecond == 0
    # A charge that has recorded nobody, and debited somebody, is found as well.
    assert inspect(store, Fraction(10), settings).unbound == 1


def test_a_charge_before_migration_0015_reads_and_refunds_nobody(scene: Scene) -> None:
    """It has no digest that could show whom it debited."""
    names = usernames(scene.world, NAMED)
    body = request_for(scene.raw.content(), scene.raw.audience({"g0": names[:5], "g1": names[5:]}))
    waiting, regretted = (scene.raw.submit(body).json()["id"] for _ in range(2))
    store, settings = scene.deployment.service.store, scene.deployment.service.settings
    with store.write() as session:
        for row in session.exec(select(ChargeRow)).all():
            row.people_digest = BEFORE_0015
            session.add(row)
    before = scene.balances()
    assert inspect(store, Fraction(10), settings).sound
    scene.raw.made(f"/v1/audits/{regretted}/cancel", None)
    scene.run_audits()
    assert (scene.state(waiting), scene.state(regretted)) == ("failed", "cancelled")
    assert scene.watched.seen == []
    assert scene.balances() == before


def test_a_dropped_person_cannot_be_put_back(scene: Scene) -> None:
    """The charge commits to the people who were above the cap."""
    audience = scene.raw.audience({"g0": usernames(scene.world, NAMED)})
    body = request_for(scene.raw.content(), audience, epsilon=EPSILON, size_epsilon="0")
    first, second = (scene.raw.submit(body).json()["id"] for _ in range(2))
    with scene.deployment.service.store.write() as session:
        [left_out] = session.exec(select(ExclusionRow)).all()
        assert left_out.audit_id == second
        session.delete(left_out)
    scene.run_audits()
    assert (scene.state(first), scene.state(second)) == ("released", "failed")
    assert sum(len(persons) for persons in scene.watched.seen) == NAMED


def test_the_digest_of_the_people_leaves_the_platform_nowhere(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    talk, _ = scene.waiting()
    assert talk.talk(talk.party()) is None
    audience = scene.raw.audience({"g0": usernames(scene.world, NAMED)})
    body = request_for(scene.raw.content(), audience)
    run, cancelled = (scene.raw.submit(body).json()["id"] for _ in range(2))
    answers = [scene.raw.made(f"/v1/audits/{cancelled}/cancel", None)]
    scene.run_audits()
    paths = ("audits", f"audits/{run}", f"audits/{run}/release", "ledger/entries")
    answers += [scene.raw.get(f"/v1/{path}").json() for path in paths]
    regulator = raw(scene.deployment, scene.deployment.regulator)
    charges = regulator.get("/v1/regulator/charges").text
    exported = regulator.get("/v1/regulator/exports/charges", params={"format": "csv"}).text
    assert all(run in each for each in (charges, exported))
    with scene.deployment.service.store.read() as session:
        digests = session.exec(select(ChargeRow.people_digest)).all()
        entries = session.exec(select(EntryRow.text)).all()
        releases = [row.body for row in session.exec(select(ReleaseRow))]
        messages = [row.body for row in session.exec(select(MessageRow))]
    logs = [repr(vars(record)) for record in caplog.records]
    told = "\n".join(
        [json.dumps(answers), charges, exported, *entries, *logs, generate_latest().decode()]
    )
    everything = told.encode() + b"".join([*releases, *messages])
    assert len(set(digests)) == len(digests) == 3
    assert all(each.encode() in everything for each in (talk.audit.id, run, cancelled))
    for digest in digests:
        assert digest is not None
        for form in (digest, *written(digest)):
            assert form not in everything


def written(digest: bytes) -> list[bytes]:
    """Every way in which somebody may have written it down, in part."""
    base64s = [base64.b64encode(digest), base64.urlsafe_b64encode(digest)]
    return [
        digest.hex()[:16].encode(),
        *(each[:16] for each in base64s),
        repr(digest)[2:30].encode(),
    ]
