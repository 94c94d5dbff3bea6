"""Entries on both databases: in the order of commits, at times that never run backwards, once."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest
from sqlmodel import col, select

from api import ledger
from api.db import EntryRow, LedgerEndRow, StatementRow, Store
from api.kernel.clock import now
from api.kernel.errors import IdempotencyConflictError, InvalidRequestError
from api.ledger import entries
from api.ledger.platform_changes import record_change, record_state
from api.ledger.tree import load_tree
from api.platforms.interfaces import Platform
from privacy.ledger.merkle import root_of
from tests.databases import prepare
from tests.refusals import refuses
from tests.statements import Maker
from tests.system.adapters import Watched
from tests.world import make_settings

MAKER = Maker("researcher_" + "0" * 30)
THREADS, EACH = 4, 15


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    """A ledger with nothing in it, for each test anew."""
    made = Store(new_database())
    prepare(made)
    yield made
    made.close()


def rows(store: Store, kind: str | None = None) -> list[EntryRow]:
    with store.read() as session:
        found = session.exec(select(EntryRow).order_by(col(EntryRow.number)))
        return [row for row in found if kind in (None, row.kind)]


def facts(store: Store, kind: str) -> list[dict[str, Any]]:
    return [json.loads(row.text)["facts"] for row in rows(store, kind)]


# --- order


def test_concurrent_entries_are_numbered_in_the_order_of_commits(store: Store) -> None:
    def write(thread: int) -> None:
        for turn in range(EACH):
            with store.write() as session:
                at = ledger.lock(session)
                ledger.append(session, "test", {"thread": thread, "turn": turn}, at=at)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(THREADS)))
    found = rows(store)
    assert [row.number for row in found] == list(range(THREADS * EACH))
    assert [row.at for row in found] == sorted(row.at for row in found)
    for thread in range(THREADS):
        mine = [each["turn"] for each in facts(store, "test") if each["thread"] == thread]
        assert mine == list(range(EACH))
    with store.read() as session:
        assert load_tree(session).root(len(found)) == root_of([row.leaf for row in found])


def write_and_fail(store: Store, number: int) -> None:
    with store.write() as session:
        ledger.append(session, "test", {"n": number}, None, MAKER.states("test", {}, "once"))
        raise RuntimeError("something else went wrong")


def test_an_entry_is_there_if_and_only_if_its_transaction_commits(store: Store) -> None:
    for number in range(3):
        with pytest.raises(RuntimeError, match="something else"):
            write_and_fail(store, number)
        with store.write() as session:
            ledger.append(session, "test", {"n": number})
    assert [row.number for row in rows(store)] == [0, 1, 2]
    assert [each["n"] for each in facts(store, "test")] == [0, 1, 2]
    with store.read() as session:
        assert session.exec(select(StatementRow)).all() == []


# --- time


def test_times_do_not_run_backwards_though_the_clock_does(store: Store) -> None:
    start = now()
    for minutes in (5, 3, 0, -60, 4, 6, -1):
        with patch.object(entries, "now", return_value=start + timedelta(minutes=minutes)):
            with store.write() as session:
                ledger.append(session, "test", {})
            with store.write() as session:
                ledger.append(session, "test", {}, at=ledger.lock(session))
    minutes_after = [(row.at - start) // timedelta(minutes=1) for row in rows(store)]
    assert minutes_after == [5] * 10 + [6] * 4
    with store.read() as session:
        assert session.exec(select(LedgerEndRow)).one().latest == start + timedelta(minutes=6)
    for row in rows(store):
        assert json.loads(row.text)["at"] == row.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_a_time_before_the_ledgers_time_is_not_written(store: Store) -> None:
    with store.write() as session:
        early = ledger.lock(session)
        ledger.append(session, "test", {}, at=early + timedelta(seconds=2))
        ledger.append(session, "test", {}, at=early)
    first, second = rows(store)
    assert first.at == second.at == early + timedelta(seconds=2)


# --- once


def test_a_statement_is_made_once(store: Store) -> None:
    stated = MAKER.states("test", {"a": 1}, "the-only-time")
    with store.write() as session:
        ledger.append(session, "test", {}, None, stated)
    for again in (stated, MAKER.states("other", {"b": 2}, "the-only-time")):
        with (
            refuses(IdempotencyConflictError, "key-used-before", "entry 0"),
            store.write() as session,
        ):
            ledger.append(session, again.action, {}, None, again)
    assert len(rows(store)) == 1
    another = Maker("researcher_" + "1" * 30).states("test", {"a": 1}, "the-only-time")
    with store.write() as session:
        ledger.append(session, "test", {}, None, another)
    assert len(rows(store)) == 2


def test_of_those_who_repeat_a_statement_at_once_one_succeeds(store: Store) -> None:
    stated = MAKER.states("test", {"a": 1}, "the-only-time")

    def write(_: int) -> bool:
        try:
            with store.write() as session:
                ledger.append(session, "test", {}, None, stated)
        except IdempotencyConflictError:
            return False
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        assert sorted(pool.map(write, range(THREADS))) == [False] * (THREADS - 1) + [True]
    assert len(rows(store)) == 1


@pytest.mark.parametrize("odd", [0.5, float("1e300"), [[[[[[[[[[0]]]]]]]]]]])
def test_what_a_verifier_would_not_read_does_not_get_in(store: Store, odd: object) -> None:
    with refuses(InvalidRequestError, "not-an-entry"), store.write() as session:
        ledger.append(session, "test", {}, None, MAKER.states("test", {"odd": odd}))
    assert rows(store) == []


# --- what the platform says of itself


@dataclass
class Renamed(Watched):
    """The same model under another digest."""

    digest: str = ""

    @property
    def model_digest(self) -> str:
        return self.digest


def test_settings_and_model_are_entries_when_they_change_and_only_then(
    store: Store, platform: Platform
) -> None:
    settings = make_settings(store.url, "http://127.0.0.1:9", person_lifetime_rho="5")
    changed = settings.model_copy(update={"person_lifetime_rho": Decimal(7)})
    of_no_matter = settings.model_copy(update={"poll_seconds": 7.0, "burst": 7})
    assert platform.scores
    retrained = replace(platform, scores=Renamed(platform.scores, digest="sha256:" + "1" * 64))
    for with_settings, on in (
        (settings, platform),
        (settings, platform),
        (of_no_matter, platform),
        (changed, platform),
        (changed, retrained),
        (changed, retrained),
        (settings, platform),
    ):
        record_state(store, with_settings, on)
    caps = [Decimal(each["values"]["person_lifetime_rho"]) for each in facts(store, "settings")]
    assert caps == [5, 7, 5]
    old, new = platform.scores.model_digest, "sha256:" + "1" * 64
    assert [each["digest"] for each in facts(store, "model")] == [old, new, old]
    assert len(rows(store)) == 6
    key = settings.key_encryption_key.get_secret_value()
    assert not [row for row in rows(store) if key in row.text or "127.0.0.1" in row.text]


def test_a_platform_without_a_model_says_nothing_of_one(store: Store, platform: Platform) -> None:
    settings = make_settings(store.url, "http://127.0.0.1:9")
    for _ in range(2):
        record_state(store, settings, replace(platform, scores=None))
    assert [row.kind for row in rows(store)] == ["settings"]


def test_processes_that_start_together_record_settings_once(store: Store) -> None:
    def start(_: int) -> None:
        with store.write() as session:
            record_change(session, "model", {"digest": "sha256:" + "2" * 64})

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(start, range(THREADS)))
    assert len(rows(store)) == 1
