"""Upgrades to migration 0015 while audits run, and while processes of the version before do.

Processes of the version before are played by the statements that they send. They know no recorded
people. What they could do wrong, the database refuses; new processes do it right.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from alembic import command
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import select

from api import ledger
from api.accounting.balance_blocks import Blocks
from api.accounting.charge import load_charged_people
from api.accounting.people_digest import BEFORE_0015, UnboundPeopleError
from api.app.compose import make_simulated_platform
from api.audiences.erasure import erase
from api.audits import cancellation
from api.db import AudienceRow, AuditRow, ChargedPeopleRow, ChargeRow, Store
from api.db.schema import _config, migrate
from api.kernel.errors import ConflictError
from api.operations.reconciliation import Inspection, inspect
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from platform_sim import SimulatedPlatform, World
from tests.system.adapters import Watched, on
from tests.system.raw import usernames
from tests.two_parties import Conversation, auditor_at, weighted
from tests.world import Deployment, deployed

pytestmark = pytest.mark.long

ROWS = 20
# rho = (2 · epsilon)² / 2 under change-one, in units of 1e-12.
RHO = 2 * 10**12
PEOPLE = np.arange(ROWS).astype("<i8").tobytes()


class KilledError(Exception):
    """The process died here."""


@pytest.fixture(scope="module")
def tiny() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture(scope="module")
def world(tiny: Platform) -> World:
    assert isinstance(tiny.people, SimulatedPlatform)
    return tiny.people.world


@pytest.fixture(scope="module")
def watched(tiny: Platform) -> Watched:
    assert tiny.scores is not None
    return Watched(tiny.scores)


@pytest.fixture
def service(
    new_database: Callable[[], str], tiny: Platform, watched: Watched
) -> Iterator[Deployment]:
    """With the real cap."""
    settings = {"embedded_worker": False, "two_party_candidates": 150, "person_lifetime_rho": 10}
    with deployed(new_database(), on(tiny, watched), **settings) as running:
        watched.seen.clear()
        yield running


@pytest.fixture
def auditor(service: Deployment) -> Auditor:
    return auditor_at(service)


def begun(auditor: Auditor, names: list[str], service: Deployment) -> Conversation:
    hidden = weighted(auditor, names, ["a"] * len(names), hide=True)
    return Conversation.begin(service, auditor, hidden, epsilon=1)


def die(talk: Conversation, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The people are recorded; the process dies before (`_begin`) or after reading has begun."""

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as dying:
        dying.setattr(
            where if "." in where else f"api.two_party.platform_half.PlatformHalf.{where}", killed
        )
        with pytest.raises(KilledError):
            talk.talk(talk.party())
    talk.die()


def upgrade(store: Store) -> None:
    """Back to the version before, and forward again."""
    connected = store.engine.connect().execution_options(writes=True)
    with connected as connection, connection.begin():
        command.downgrade(_config(connection), "0014")
    migrate(store)


def spent(store: Store, column: str = "spent") -> set[int]:
    """The numbers of the people who have a balance: each is that of one charge."""
    with store.read() as session:
        balances = Blocks.load(session, np.array([0]))[column]
    assert set(balances.tolist()) <= {0, RHO}
    return {int(person) for person in np.flatnonzero(balances)}


def inspected(service: Deployment) -> Inspection:
    settings = service.service.settings
    return inspect(service.service.store, Fraction(settings.person_lifetime_rho), settings)


def seen(watched: Watched) -> set[int]:
    return {int(person) for persons in watched.seen for person in persons}


@pytest.mark.parametrize("strangers", [True, False])
@pytest.mark.parametrize("where", ["_begin", "api.two_party.platform_half.values_of"])
def test_a_two_party_audit_goes_on_after_the_migration_if_nothing_was_read(
    service: Deployment,
    auditor: Auditor,
    world: World,
    watched: Watched,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    strangers: bool,
) -> None:
    """One that had begun to read fails: nothing shows whom the version before debited."""
    talk = begun(auditor, usernames(world, ROWS, strangers=strangers), service)
    store = service.service.store
    if where == "_begin":  # the version before recorded nobody before it read
        found = set[int]()
    else:
        die(talk, monkeypatch, where)
        assert talk.state == "running"
        found = spent(store)
    upgrade(store)
    assert spent(store) == spent(store, "drawn") == found
    if where == "_begin":
        assert talk.talk(talk.party()) is None
        assert talk.state in ("running", "released")
        assert seen(watched) == spent(store)
    else:
        with pytest.raises(ConflictError):
            talk.talk(talk.party())
        assert (talk.state, seen(watched)) == ("failed", set())
    assert len(spent(store)) == (0 if strangers else ROWS)
    assert inspected(service).sound


def test_a_charge_of_the_version_before_on_a_hidden_audience_reads_and_refunds_nobody(
    service: Deployment, auditor: Auditor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the digest that the column gives by default."""
    talk = begun(auditor, usernames(world, ROWS), service)
    store, settings = service.service.store, service.service.settings
    as_before = text("UPDATE charges SET people_digest = :digest WHERE audit_id = :audit")
    with store.write() as session:
        given = {"digest": BEFORE_0015, "audit": talk.audit.id}
        session.connection().execute(as_before, given)
    with store.read() as session:
        row = session.exec(select(ChargeRow)).one()
        audience = session.get_one(AudienceRow, row.audience_id)
        with pytest.raises(UnboundPeopleError):
            load_charged_people(session, row, audience, settings)
    die(talk, monkeypatch, "_begin")
    assert len(spent(store)) == ROWS
    cancel(service, talk)
    assert spent(store) == set()
    assert inspected(service).sound


def cancel(service: Deployment, talk: Conversation) -> None:
    with service.service.store.write() as session:
        at = ledger.lock(session)
        audit = session.get_one(AuditRow, talk.audit.id)
        cancellation.give_back(session, at, audit, service.service.settings)


OLD_WRITES = {
    "hidden_people_belong_to_charges": "UPDATE audience_groups SET people = :people",
    "refunds_drop_charged_people": "UPDATE charges SET refunded_at = charged_at",
    "erasures_drop_charged_people": "UPDATE audiences SET state = 'erased'",
}


@pytest.mark.parametrize("refused", OLD_WRITES)
def test_the_database_refuses_what_the_version_before_would_do_wrong(
    service: Deployment,
    auditor: Auditor,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    refused: str,
) -> None:
    talk = begun(auditor, usernames(world, ROWS), service)
    die(talk, monkeypatch, "_begin")
    store = service.service.store
    given = {"people": PEOPLE} if "people" in OLD_WRITES[refused] else {}
    with pytest.raises(IntegrityError, match=refused), store.write() as session:
        session.connection().execute(text(OLD_WRITES[refused]), given)
    assert inspected(service).sound
    # The new version does all of it.
    cancel(service, talk)
    with store.write() as session:
        ledger.lock(session)
        erase(session, session.exec(select(AudienceRow)).one())
    with store.read() as session:
        assert session.exec(select(ChargedPeopleRow)).all() == []
    assert spent(store) == set()
    assert inspected(service).sound


def test_an_erased_audience_still_carries_what_was_read(
    service: Deployment, auditor: Auditor, world: World
) -> None:
    talk = begun(auditor, usernames(world, ROWS), service)
    assert talk.talk(talk.party()) is None
    store = service.service.store
    with store.write() as session:
        ledger.lock(session)
        audit = session.get_one(AuditRow, talk.audit.id)
        audit.state = "failed"
        session.add(audit)
        session.flush()
        erase(session, session.exec(select(AudienceRow)).one())
    assert len(spent(store)) == len(spent(store, "carried")) == ROWS
    assert inspected(service).sound


def test_a_waiting_audit_on_an_upload_fails_after_the_migration(
    service: Deployment, auditor: Auditor, world: World, watched: Watched
) -> None:
    """Its charge is kept, and nobody is read."""
    people = weighted(auditor, usernames(world, ROWS), ["a"] * ROWS, hide=False)
    talk = Conversation.begin(service, auditor, people, epsilon=1)
    upgrade(service.service.store)
    assert len(spent(service.service.store)) == ROWS
    with pytest.raises(ConflictError):
        talk.talk(talk.party())
    assert (talk.state, seen(watched)) == ("failed", set())
    assert len(spent(service.service.store)) == ROWS
    assert inspected(service).sound
