"""Damage that was done before charges were bound to people: migrated, found, and repaired.

Ten people have spent 9. Three audits are charged on a hidden audience, which debits nobody: a
two-party run that finds the ten, a histogram that is released on them, and one that is cancelled
and refunds them what they never paid. A fourth still waits.
"""

import base64
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from alembic import command
from joserfc.jwk import OKPKey
from sqlalchemy import text
from sqlmodel import col, select

from api.accounting.balance_blocks import BLOCK, pack, unpack
from api.db import (
    AuditorRow,
    ChargedPeopleRow,
    ChargeRow,
    EntryRow,
    GroupRow,
    PersonBlockRow,
    Store,
)
from api.db.schema import _config, list_differences, migrate
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.operations.balance_repair import repair, repair_after_upgrade
from api.operations.reconciliation import inspect
from api.operations.setup import register_first
from tests.api.accounting.accounts import BEGINNING, Accounts, at_time
from tests.api.accounting.model import Cost, Mandate
from tests.databases import prepare

TEN = np.arange(10) * 200
CAP = Fraction(10)
FIRST, RUN, HISTOGRAM = Fraction(9), Fraction(1, 2), Fraction("9.68")
DAMAGED = FIRST + RUN - HISTOGRAM
TRUTH = FIRST + RUN + HISTOGRAM


@dataclass
class Damaged:
    accounts: Accounts
    run: str
    released: str
    cancelled: str
    waiting: str


@pytest.fixture
def accounts(new_database: Callable[[], str], tmp_path: Path) -> Iterator[Accounts]:
    store = Store(new_database())
    prepare(store)
    key = OKPKey.generate_key("Ed25519").as_dict(private=False)
    with at_time(lambda: -10_000):
        regulator_id = register_first(store, "regulator", key)
    auditor = AuditorRow(id=new_id("auditor"), name="Lab", created_at=BEGINNING)
    auditor_id = auditor.id
    with store.write() as session:
        session.add(auditor)
    settings = Settings(
        database_url=store.url,
        issuer="http://127.0.0.1:9",
        key_encryption_key=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    )
    yield Accounts(store, settings, regulator_id, auditor_id, tmp_path)
    store.close()


@pytest.fixture
def damaged(accounts: Accounts) -> Damaged:
    """The database of version 0014 after the attack, as its code left it."""
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("known", {"g0": set(TEN.tolist())}, 1, "upload", uploaded=10)
    accounts.seal("hidden", {"g0": set()}, 1, "hidden", uploaded=10)
    with at_time(lambda: 0):
        accounts.release(accounts.charge("known", Cost(None, FIRST), "m"))
        made = [
            accounts.charge("hidden", Cost(None, rho), "m")
            for rho in (RUN, HISTOGRAM, HISTOGRAM, HISTOGRAM)
        ]
        scene = Damaged(accounts, *made)
        accounts.refund(scene.cancelled)
        accounts.release(scene.released)
        accounts.release(scene.run)
    _migrate_down(accounts.store)
    with accounts.store.write() as session:
        connection = session.connection()
        for table in ("audits", "charges"):
            column = "id" if table == "audits" else "audit_id"
            change = f"UPDATE {table} SET kind = 'two-party' WHERE {column} = :run"
            connection.execute(text(change), {"run": scene.run})
        people = {"people": TEN.astype("<i8").tobytes()}
        whose = "UPDATE audience_groups SET people = :people WHERE audience_id = 'hidden'"
        connection.execute(text(whose), people)
        spent = np.zeros((2, BLOCK), np.int64)
        spent.ravel()[TEN] = int(DAMAGED * 10**12)
        for number, block in enumerate(pack(spent.ravel())):
            change = "UPDATE person_blocks SET spent = :spent WHERE number = :number"
            connection.execute(text(change), {"spent": block, "number": number})
    return scene


def _migrate_down(store: Store) -> None:
    connected = store.engine.connect().execution_options(writes=True)
    with connected as connection, connection.begin():
        command.downgrade(_config(connection), "0014")


def balances(accounts: Accounts) -> set[Fraction]:
    """Return the balances of the ten; nobody else has any."""
    found = accounts.balances()
    assert set(found) <= set(TEN.tolist())
    return {found.get(person, Fraction(0)) for person in TEN.tolist()}


def test_a_damaged_database_is_migrated_and_nobody_is_below_zero(damaged: Damaged) -> None:
    accounts = damaged.accounts
    assert DAMAGED < 0
    migrate(accounts.store)
    assert list_differences(accounts.store) == []
    assert balances(accounts) == {Fraction(0)}
    with accounts.store.read() as session:
        [group] = session.exec(select(GroupRow).where(GroupRow.audience_id == "hidden")).all()
        recorded = {row.audit_id: row.people for row in session.exec(select(ChargedPeopleRow))}
        bound = session.exec(select(ChargeRow.audit_id, ChargeRow.people_digest)).all()
    assert group.people == b""
    people = TEN.astype("<i8").tobytes()
    assert recorded == {damaged.run: people, damaged.released: people}
    assert {audit_id for audit_id, digest in bound if digest is None} == {
        damaged.cancelled,
        damaged.waiting,
    }
    found = inspect(accounts.store, CAP, accounts.settings)
    assert (found.differing, found.negative, found.sound) == (10, 0, False)


def test_an_upgrade_debits_people_for_what_was_computed_on_them(damaged: Damaged) -> None:
    accounts = damaged.accounts
    migrate(accounts.store)
    assert repair_after_upgrade(accounts.store)
    assert balances(accounts) == {TRUTH}
    found = inspect(accounts.store, CAP, accounts.settings)
    # They were read beyond the cap, and nothing can undo that: an inspection goes on saying so.
    assert (found.differing, found.negative, found.unbound, found.above_cap) == (0, 0, 0, 10)
    assert not repair_after_upgrade(accounts.store)
    [entry] = repairs(accounts.store)
    assert set(entry) == {"by", "reason"}
    assert entry["by"] == "upgrade"


def test_what_still_waits_refunds_nobody(damaged: Damaged) -> None:
    accounts = damaged.accounts
    migrate(accounts.store)
    repair_after_upgrade(accounts.store)
    with at_time(lambda: 1):
        accounts.refund(damaged.waiting)
    assert balances(accounts) == {TRUTH}
    assert inspect(accounts.store, CAP, accounts.settings).differing == 0


def test_what_people_of_a_hidden_audience_spent_is_kept_apart_after_an_upgrade(
    damaged: Damaged,
) -> None:
    migrate(damaged.accounts.store)
    repair_after_upgrade(damaged.accounts.store)
    with damaged.accounts.store.read() as session:
        rows = session.exec(select(PersonBlockRow).order_by(col(PersonBlockRow.number))).all()
    drawn = unpack([row.drawn or b"" for row in rows]).ravel()
    assert set(drawn[TEN].tolist()) == {int((RUN + HISTOGRAM) * 10**12)}


def test_an_erased_audience_carries_what_was_recorded(damaged: Damaged) -> None:
    accounts = damaged.accounts
    migrate(accounts.store)
    repair_after_upgrade(accounts.store)
    with at_time(lambda: 1):
        accounts.refund(damaged.waiting)
        accounts.erase("hidden")
    assert balances(accounts) == {TRUTH}
    assert inspect(accounts.store, CAP, accounts.settings).differing == 0
    with accounts.store.read() as session:
        assert session.exec(select(ChargedPeopleRow)).all() == []


def test_a_sound_database_is_left_as_it_is_and_its_ledger_too(accounts: Accounts) -> None:
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("known", {"g0": set(TEN.tolist())}, 1, "upload", uploaded=10)
    with at_time(lambda: 0):
        accounts.charge("known", Cost(None, FIRST), "m")
    _migrate_down(accounts.store)
    migrate(accounts.store)
    assert not repair_after_upgrade(accounts.store)
    assert balances(accounts) == {FIRST}
    assert inspect(accounts.store, CAP, accounts.settings).sound
    assert repairs(accounts.store) == []


def test_an_operator_repairs_what_was_lost_and_lowers_nothing(accounts: Accounts) -> None:
    accounts.grant(Mandate("m", "rho", Fraction(100), 0, 9_600))
    accounts.seal("known", {"g0": set(TEN.tolist())}, 1, "upload", uploaded=10)
    with at_time(lambda: 0):
        accounts.charge("known", Cost(None, FIRST), "m")
    with accounts.store.write() as session:
        lost, high = session.exec(select(PersonBlockRow).order_by(col(PersonBlockRow.number)))
        session.delete(lost)
        high.spent = pack(np.where(np.arange(BLOCK) == TEN[-1] % BLOCK, int(CAP) * 10**12, 0))[0]
        session.add(high)
    repair(accounts.store, "operator", "a block was lost")
    found = accounts.balances()
    assert found == dict.fromkeys(TEN[:-1].tolist(), FIRST) | {int(TEN[-1]): CAP}
    assert repairs(accounts.store) == [{"by": "operator", "reason": "a block was lost"}]


def repairs(store: Store) -> list[dict[str, str]]:
    with store.read() as session:
        texts = session.exec(select(EntryRow.text).where(EntryRow.kind == "balance-repair")).all()
    return [json.loads(each)["facts"] for each in texts]
