"""How time grows: audits of more people, longer ledgers to verify, longer ledgers to write to.

A slope is that of seconds over size, both in logarithms, over the last two decades: 1 is linear.
A ledger to write to is filled in bulk, with the charges of ten rolling mandates over years; then
the service writes to it: as fast at the end as at the start is 1.
"""

import math
import tempfile
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, update
from sqlmodel import col, select

from api import budgets
from api.clock import now
from api.compose import simulated
from api.store import ChargeRow, EntryRow, HeadRow, MandateRow, TreeHashRow
from bench import ledger
from bench.appends import appended
from bench.harness import Figure, seconds
from bench.hosted import Hosted, hosted
from privacy.ledger.merkle import root_of
from privacy.ledger.tiles import TILE

COMMAND = "python -m bench growth"
SIZES = [10**power for power in range(3, 8)]
MANDATES = 10  # each is charged once a day
DAYS = 20  # of a rolling mandate
AT_ONCE = 50_000
ROUNDS = 5


def run(largest: int = SIZES[-1]) -> list[Figure]:
    sizes = [size for size in SIZES if size <= largest]
    return [_audits(sizes), _verifications(sizes), *_ledgers(sizes)]


def _slope(name: str, sizes: list[int], took: list[float]) -> Figure:
    """`ours` is the largest, and `floor_or_peer` what linear growth of two decades would give."""
    linear = took[-3] * sizes[-1] / sizes[-3]
    slope = math.log(took[-1] / took[-3]) / math.log(sizes[-1] / sizes[-3])
    told = f"{name}: slope from {sizes[-3]:,} to {sizes[-1]:,}; beside linear growth"
    return Figure(told, took[-1], linear, slope, "≤ 1.05", COMMAND)


def _audits(sizes: list[int]) -> Figure:
    everybody = np.random.default_rng(0).permutation(sizes[-1]).astype(np.int64)
    platform = simulated(people=sizes[-1])
    took = []
    with tempfile.TemporaryDirectory() as folder, hosted(Path(folder), platform) as host:
        for size in sizes:
            request, _ = host.sealed(everybody[:size])
            host.audit(request)  # balances are there from now on
            took.append(median(seconds(lambda: host.audit(request)) for _ in range(ROUNDS)))  # noqa: B023
    return _slope("audits", sizes, took)


def _verifications(sizes: list[int]) -> Figure:
    took = []
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / "ledger.jsonl"
        for size in sizes:
            ledger.write(export, size, session=100)
            took.append(min(seconds(lambda: ledger.check(export)) for _ in range(2)))
    return _slope("verification of ledgers", sizes, took)


def _ledgers(sizes: list[int]) -> list[Figure]:
    """Appends and checks of a rolling budget at the first size, and at the last."""
    first, *_, last = (_written_to(size) for size in sizes)
    names = ("400 entries appended", "200 budgets checked")
    return [
        Figure(
            f"{name} on a ledger of {sizes[-1]:,}; beside one of {sizes[0]:,}",
            at_last,
            at_first,
            at_first / at_last,
            "≥ 0.9",
            COMMAND,
        )
        for name, at_first, at_last in zip(names, first, last, strict=True)
    ]


def _written_to(size: int) -> tuple[float, float]:
    """Seconds for appends and for budget checks on a ledger of this size."""
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), simulated(people=1_000)) as host,
    ):
        filled = _fill(host, size)
        appends = median(seconds(lambda: appended(host, 400)) for _ in range(ROUNDS))
        checks = median(seconds(lambda: _checked(host, filled)) for _ in range(ROUNDS))
        return appends, checks


def _checked(host: Hosted, mandate: str) -> None:
    with host.service.store.read() as session:
        row = session.get_one(MandateRow, mandate)
        for _ in range(200):
            budgets.remaining(session, row, now())
            session.expire_all()


def _fill(host: Hosted, size: int) -> str:
    """Entries, hashes and charges up to this size; the mandate whose budget is checked."""
    store = host.service.store
    with store.write() as session:
        mandate = session.exec(select(MandateRow)).one()
        mandate.renewal, mandate.renewal_days = "rolling", DAYS
        session.add(mandate)
        leaves = list(session.exec(select(EntryRow.leaf).order_by(col(EntryRow.number))))
    with store.engine.connect() as connection:
        # Charges of audits that never were; outside of a transaction, or it would do nothing.
        for statement in ("COMMIT", "PRAGMA foreign_keys=OFF", "BEGIN"):
            connection.exec_driver_sql(statement)
        for start in range(len(leaves), size, AT_ONCE):
            leaves += _entries(connection, range(start, min(size, start + AT_ONCE)), mandate)
        _hashes(connection, leaves)
        for start in range(0, size // 4, AT_ONCE):
            _charges(connection, range(start, min(size // 4, start + AT_ONCE)), mandate)
        connection.execute(update(HeadRow).values(size=len(leaves)))
        connection.commit()
        connection.invalidate()
    return mandate.id


def _entries(connection: Connection, numbers: range, mandate: MandateRow) -> list[bytes]:
    leaves = [sha256(b"%d" % number).digest() for number in numbers]
    same = {"kind": "content", "auditor_id": mandate.auditor_id, "text": "x" * 300, "at": now()}
    rows = ({"number": n, "leaf": leaf, **same} for n, leaf in zip(numbers, leaves, strict=True))
    connection.execute(insert(EntryRow), list(rows))
    return leaves


def _hashes(connection: Connection, hashes: list[bytes]) -> None:
    """Of all complete subtrees, level by level."""
    for level in count(1):
        starts = range(0, len(hashes) - len(hashes) % TILE, TILE)
        hashes = [root_of(hashes[start : start + TILE]) for start in starts]
        if not hashes:
            return
        rows = [{"level": level, "number": n, "hash": each} for n, each in enumerate(hashes)]
        connection.execute(insert(TreeHashRow), rows)


def _charges(connection: Connection, numbers: range, mandate: MandateRow) -> None:
    """One a day for each mandate, the newest first."""
    same = {
        "auditor_id": mandate.auditor_id,
        "researcher_id": mandate.granted_by,
        "audience_id": "audience",
        "audience_commitment": "x" * 71,
        "content_digests": ["x" * 71],
        "kind": "score-histogram",
        "price": "x" * 200,
        "currency": mandate.currency,
        "debit": Fraction(1, 1000),
        "period": 0,
        "rho": Fraction(1, 1000),
        "exploration_loss": Fraction(0),
    }
    connection.execute(insert(ChargeRow), [_charge(n, mandate.id) | same for n in numbers])


def _charge(number: int, mandate: str) -> dict[str, Any]:
    day, of = divmod(number, MANDATES)
    return {
        "id": f"charge_{number}",
        "audit_id": f"audit_{number}",
        "mandate_id": f"{mandate}{of or ''}",
        "charged_at": now() - timedelta(days=day),
    }
