"""A ledger filled in bulk on SQLite: rows that the service wrote, copied within the database.

Of entries only the number and the leaf differ; the hashes of the tree are those of the leaves.
Charges belong to ten rolling mandates, each charged twenty times a day. So a budget's window has
the same number of charges in the shortest and in the longest ledger.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain, count, islice
from typing import Any

from sqlalchemy import Connection, Engine, Table, insert, inspect, update
from sqlmodel import SQLModel, col, func, select

from api.db import ChargeRow, EntryRow, LedgerEndRow, MandateRow, TreeHashRow
from bench.hosted import Hosted
from privacy.ledger.merkle import root_of
from privacy.ledger.tiles import TILE

MANDATES = 10
A_DAY = 20
_FAST = ("foreign_keys=OFF", "journal_mode=OFF", "synchronous=OFF", "cache_size=-1000000")
_AGE = f"(:last - n) / {MANDATES} * {24 * 60 // A_DAY}"


def fill(host: Hosted, size: int) -> str:
    """Fill the ledger up to `size` entries, of which a quarter are charges.

    Return the mandate's id.
    """
    with host.service.store.write() as session:
        mandate = session.exec(select(MandateRow)).one()
        mandate.renewal, mandate.renewal_days = "rolling", 1
        session.add(mandate)
        leaves = list(session.exec(select(EntryRow.leaf).order_by(col(EntryRow.number))))
        charge = session.exec(select(ChargeRow.id)).one()
        entry = session.exec(select(func.max(EntryRow.number)).where(EntryRow.kind == "content"))
        content = entry.one()
    with _unguarded(host.service.store.engine) as connection:
        _entries(connection, len(leaves), size, content)
        _hashes(connection, leaves, size)
        _charges(connection, size // 4, charge, mandate.id)
        connection.execute(update(LedgerEndRow).values(size=size))
    return mandate.id


@contextmanager
def _unguarded(engine: Engine) -> Iterator[Connection]:
    """Open a fast connection without a journal and without foreign keys, since the audits of
    charges do not exist.
    """
    engine.dispose()  # every other connection keeps the journal
    with engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")  # these have no effect within a transaction
        for pragma in _FAST:
            connection.exec_driver_sql(f"PRAGMA {pragma}")
        connection.exec_driver_sql("BEGIN")
        yield connection
        connection.commit()
        connection.invalidate()


def _leaf(number: int) -> bytes:
    return sha256(b"%d" % number).digest()


def _entries(connection: Connection, first: int, size: int, like: int) -> None:
    connection.connection.driver_connection.create_function("leaf", 1, _leaf)  # type: ignore[union-attr]
    _copies(connection, EntryRow, f"number = {like}", (first, size), number="n", leaf="leaf(n)")


def _charges(connection: Connection, charges: int, like: str, mandate: str) -> None:
    """Insert the charges, the oldest first; the service's own charge is the newest."""
    _copies(
        connection,
        ChargeRow,
        f"id = '{like}'",
        (0, charges),
        id="printf('charge_%030x', n)",
        audit_id="printf('audit_%030x', n)",
        mandate_id=f"'{mandate}' || iif(n % {MANDATES}, n % {MANDATES}, '')",
        charged_at=f"strftime('%Y-%m-%d %H:%M:%f000', charged_at, '-' || ({_AGE}) || ' minutes')",
    )


def _copies(
    connection: Connection, row: type[SQLModel], like: str, numbers: tuple[int, int], **new: str
) -> None:
    """Copy the row for each number `n`, with other values in these columns."""
    table: Any = inspect(row).local_table
    assert isinstance(table, Table)
    names = [column.name for column in table.columns]
    values = ", ".join(new.get(name, name) for name in names)
    first, stop = numbers
    connection.exec_driver_sql(
        f"WITH RECURSIVE numbers(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers"
        f" WHERE n < :last) INSERT INTO {table.name} ({', '.join(names)})"
        f" SELECT {values} FROM numbers, (SELECT * FROM {table.name} WHERE {like})"
        " WHERE :first <= :last",
        {"first": first, "last": stop - 1},
    )


def _hashes(connection: Connection, begun: list[bytes], size: int) -> None:
    """Insert the hashes of all complete subtrees, level by level."""
    hashes = chain(begun, map(_leaf, range(len(begun), size)))
    for level in count(1):
        tiles = [root_of(tile) for tile in _complete(hashes)]
        if not tiles:
            return
        rows = [{"level": level, "number": n, "hash": each} for n, each in enumerate(tiles)]
        connection.execute(insert(TreeHashRow), rows)
        hashes = chain(tiles)


def _complete(hashes: Iterator[bytes]) -> Iterator[list[bytes]]:
    while len(tile := list(islice(hashes, TILE))) == TILE:
        yield tile
