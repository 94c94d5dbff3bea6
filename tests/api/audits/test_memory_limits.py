"""An audit takes no more memory than estimated, by declared sizes alone."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from api.accounting import lifetime_caps as persons
from api.accounting.balances import SpentBalances
from api.accounting.lifetime_caps import LifetimeDebit
from api.app.compose import make_simulated_platform
from api.audits.memory_limits import BATCH_BYTES, CELL_BYTES, MEMBER_BYTES, needed_bytes
from api.db import Store
from api.db.schema import migrate
from api.kinds.building_blocks import log_rows
from api.kinds.building_blocks.log_rows import HELD_BYTES
from api.kinds.context import in_process_context
from api.kinds.envy_freeness import ARM_BYTES, BYTES_PER_LOT
from api.kinds.envy_freeness.algorithms import Terms, make_fleet
from api.kinds.envy_freeness.participants import draw_lots
from api.kinds.registry import KINDS, AudienceFacts
from api.platforms.interfaces import Log, Persons, Platform
from bench.hosted import Hosted, hosted
from openapi.resources import REQUEST
from privacy.tables.membership import BATCH, Membership
from tests.api.kinds.test_bias_size import LOG, asked
from tests.api.kinds.test_outcome_test import asked as outcomes
from tests.logs.parquet import ParquetLogs
from tests.memory import peak
from tests.world import sqlite_url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(sqlite_url(tmp_path))
    migrate(store)
    yield store
    store.close()


def test_rows_that_are_compared_are_counted_in_full(tmp_path: Path) -> None:
    people, each = 30_000, 4
    rng = np.random.default_rng(1)
    count = people * each
    log = {
        "person": np.repeat(np.arange(people), each),
        "score": rng.random(count),
        "outcome": np.where(rng.random(count) < 0.5, 1.0, 0.0),
        "query": rng.integers(0, 9, count).astype(float),
    }
    pl.DataFrame(log).write_parquet(tmp_path / "jobs.parquet")
    nobody: Any = None
    platform = Platform("logs", people=nobody, logs=ParquetLogs(tmp_path, {"jobs": LOG}))
    halves = Membership((np.arange(0, people, 2), np.arange(1, people, 2)), 1)
    request, kind = asked(rows_per_person=each, places=3), KINDS["bias-size"]
    facts = AudienceFacts(("g0", "g1"), 1, None, members=people)
    plan = kind.plan(request, facts)
    needed = needed_bytes(kind, request, facts, plan) - BATCH_BYTES - HELD_BYTES
    taken = peak(lambda: kind.reduce(request, plan, [], halves, in_process_context(platform)))
    assert needed / 4 < taken < needed


class LongLog:
    """As many rows of each person as asked for, in no order, and not all of them usable."""

    def __init__(self, each: int) -> None:
        self.each = each

    def logs(self) -> Mapping[str, Log]:
        return {"jobs": LOG}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rng = np.random.default_rng(1)
        for _ in range(self.each):
            found = {name: 1.01 * rng.random(len(persons)) for name in columns}
            found[columns[0]][:1] = np.nan
            yield pa.RecordBatch.from_pydict({"person": rng.permutation(persons)} | found)


@pytest.mark.parametrize("drawn", [4, 40])
def test_the_rows_of_a_batch_are_counted_in_full(
    monkeypatch: pytest.MonkeyPatch, drawn: int
) -> None:
    """As many as may be held, a sixteenth of all sizes; others are read one after the other."""
    most, each = log_rows._MOST_BYTES // 16, 40
    people = most // (8 * 3 * each)
    for name, size in {"_MOST_BYTES": most, "BATCH": people}.items():
        monkeypatch.setattr(log_rows, name, size)
    for name in ("_PART", "_REDUCED"):
        monkeypatch.setattr(log_rows, name, getattr(log_rows, name) // 16)
    nobody: Any = None
    platform = Platform("logs", people=nobody, logs=LongLog(each))
    halves = Membership((np.arange(0, 3 * people, 2), np.arange(1, 3 * people, 2)), 1)
    request, kind = outcomes(rows_per_person=drawn), KINDS["outcome-test"]
    facts = AudienceFacts(("g0", "g1"), 1, None, members=3 * people)
    plan = kind.plan(request, facts)
    assert kind.held_bytes(request, facts) == HELD_BYTES
    taken = peak(lambda: kind.reduce(request, plan, [], halves, in_process_context(platform)))
    assert HELD_BYTES / 4 < 16 * taken < HELD_BYTES


def test_what_is_known_of_arms_is_counted_in_full() -> None:
    terms = Terms(delta=0.001, epsilon=0.05, alpha=0.2, bounds="tight", ceiling=5_000)
    targets, arms = 300, 60
    taken = peak(lambda: make_fleet(terms, arms, targets))
    assert taken < targets * (arms + 1) * ARM_BYTES < 16 * taken


@pytest.mark.parametrize("each", [1, 20])
def test_places_in_lots_are_counted_in_full(each: int) -> None:
    people = np.arange(400_000 // each)
    taken = peak(lambda: draw_lots(people, 100, 50, each, 7))
    assert taken < len(people) * each * BYTES_PER_LOT < 4 * taken


def charged(store: Store, membership: Membership, uploaded: int) -> None:
    with store.write() as session:
        persons.charge(
            session, [LifetimeDebit(membership, Fraction(1, 10**6), uploaded)], Fraction(1)
        )


def test_identifiers_are_counted_in_full(store: Store) -> None:
    """Nothing takes more of each than to read what everybody has borne."""
    people = 500_000
    halves = Membership((np.arange(0, people, 2), np.arange(1, people, 2)), 1)
    assert peak(lambda: charged(store, halves, people)) < people * MEMBER_BYTES
    borne = SpentBalances(store, Fraction(0), Fraction(1))
    taken = peak(lambda: borne.shares(np.concatenate(halves.groups)))
    assert people * MEMBER_BYTES / 4 < taken < people * MEMBER_BYTES


def test_people_scattered_over_a_large_platform_are_held_a_few_blocks_at_a_time(
    store: Store,
) -> None:
    scattered = np.unique(np.random.default_rng(1).integers(0, 500_000_000, 6_000))
    everyone = Membership((scattered,), 1)
    for _ in range(2):  # their blocks are new, and are there
        assert peak(lambda: charged(store, everyone, 6_000)) < BATCH_BYTES / 4
    assert (
        peak(lambda: SpentBalances(store, Fraction(0), Fraction(1)).shares(scattered))
        < BATCH_BYTES / 4
    )
    assert peak(lambda: charged(store, Membership((scattered[:1],), 1), 6_000)) < BATCH_BYTES / 4


def test_cells_are_counted_in_full(tmp_path: Path) -> None:
    with hosted(tmp_path, make_simulated_platform(people=1_000)) as host:
        few, many = (_run(host, bins) for bins in (100, 1_000))
    taken = (many - few) / (2 * 900)
    assert CELL_BYTES / 8 < taken < CELL_BYTES


def _run(host: Hosted, bins: int) -> int:
    """Return the memory that a worker takes for an audit of two groups."""
    request, _ = host.sealed(np.arange(1_000), bins=bins)
    host.audit(request)
    host.submit(request)
    return peak(host.worker.run_one)


def test_a_batch_is_counted_in_full(tmp_path: Path) -> None:
    with hosted(tmp_path, make_simulated_platform(people=2 * BATCH)) as host:
        request, _ = host.sealed(np.arange(2 * BATCH))
        host.submit(request)
        assert BATCH_BYTES / 16 < peak(host.worker.run_one) < BATCH_BYTES


def test_an_ordinary_audit_of_millions_fits() -> None:
    """The default memory suffices to audit the largest allowed upload."""
    request: Any = REQUEST.validate_python(
        {
            "kind": "score-histogram",
            "content_id": "content_" + "0" * 30,
            "audience_id": "audience_" + "0" * 30,
            "bins": {"edges": np.linspace(0, 1, 101).tolist()},
            "epsilon": "1",
        }
    )
    kind = KINDS["score-histogram"]
    facts = AudienceFacts(("g0", "g1"), 1, None, members=20_000_000)
    assert needed_bytes(kind, request, facts, kind.plan(request, facts)) < 4 * 2**30
