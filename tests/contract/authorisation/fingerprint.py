"""A fingerprint of the database, which a refused request must not change."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlmodel import SQLModel, col, select

from api.db import EntryRow, Store
from tests.system.raw import matched

# Tables that change by themselves, or when somebody proves who they are.
MOVING = {"processes", "checkpoints", "ledger_head", "ledger_tree", "used_assertions"}


def fingerprint(store: Store, left_out: set[str] = MOVING) -> dict[str, frozenset[int]]:
    """Return a hash of every row of every table."""
    with matched(store).read() as session:
        connection = session.connection()
        return {
            name: frozenset(
                hash(tuple(row)) for row in connection.exec_driver_sql(f"SELECT * FROM {name}")
            )
            for name in SQLModel.metadata.tables
            if name not in left_out
        }


@contextmanager
def unchanged(store: Store, *, refusals: bool = False) -> Iterator[None]:
    """Raise if the database changes; `refusals` may be recorded in the ledger."""
    left_out = MOVING | {"ledger"} if refusals else MOVING
    before, size = fingerprint(store, left_out), len(_kinds(store))
    yield
    after = fingerprint(store, left_out)
    changed = sorted(name for name in before if before[name] != after[name])
    assert not changed, f"refused requests changed the tables {changed}"
    new = set(_kinds(store)[size:])
    assert new <= {"refusal"}, f"refused requests made entries of the kinds {sorted(new)}"


def _kinds(store: Store) -> list[str]:
    with store.read() as session:
        return list(session.exec(select(EntryRow.kind).order_by(col(EntryRow.number))))
