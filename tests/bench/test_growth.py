"""The service and the verifier accept data that was generated in bulk."""

from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
from sqlmodel import col, desc, select

from api.app.compose import make_simulated_platform
from api.db import ChargeRow, CheckpointRow, EntryRow, MandateRow
from api.kernel.clock import now
from api.ledger import append
from api.mandates import budgets
from bench import exports
from bench.filling import A_DAY, fill
from bench.growth import _slope, run
from bench.hosted import hosted
from privacy.ledger.merkle import root_of

pytestmark = pytest.mark.long


@pytest.mark.parametrize("session", [1, 10])
def test_an_export_verifies_at_every_size(tmp_path: Path, session: int) -> None:
    export = exports.write(tmp_path / "entries.jsonl", [500, 1_001], session)
    for size in (500, 1_001):
        assert export.verified(size).size == size
    assert len(list(export.lines(1_001))) == 1_001


@pytest.mark.parametrize("size", [1_000, 70_000])
def test_a_ledger_filled_in_bulk_goes_on(tmp_path: Path, size: int) -> None:
    with hosted(tmp_path, make_simulated_platform(people=1_000)) as host:
        host.audit(host.sealed(np.arange(400))[0])
        mandate = fill(host, size)
        with host.service.store.write() as session:
            append(session, "content", {"by": "somebody"}, host.auditor.auditor)
        host.service.checkpointer().once()
        with host.service.store.read() as session:
            rows = session.exec(select(EntryRow).order_by(col(EntryRow.number))).all()
            assert [row.number for row in rows] == list(range(len(rows)))
            assert len(rows) > size
            head = session.exec(select(CheckpointRow).order_by(desc(CheckpointRow.size))).first()
            assert head is not None
            root = root_of([row.leaf for row in rows[: head.size]])
            assert b64encode(root).decode() in head.note
            assert len(session.exec(select(ChargeRow.id)).all()) == size // 4 + 1
            row = session.get_one(MandateRow, mandate)
            charge = session.exec(select(ChargeRow)).first()
            assert charge is not None
            spent = row.limit - budgets.load_remaining(session, row, now())
            # The service's own, and those of one day.
            assert charge.debit * A_DAY <= spent <= charge.debit * (A_DAY + 2)


def test_growth_is_measured_at_small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.growth.SIZES", [500, 600, 700])
    monkeypatch.setattr("bench.growth.ROUNDS", 1)
    figures = run(700)
    assert [figure.goal for figure in figures] == ["≤ 1.05", "—", "≤ 1.05", "≥ 0.9", "≥ 0.9"]
    assert all("slope" in figure.name for figure in figures[:3])


@pytest.mark.parametrize(("power", "fixed"), [(1.0, 0.0), (1.0, 0.02), (1.2, 0.02), (0.5, 1e-4)])
def test_a_slope_is_that_of_what_is_above_the_fixed_part(power: float, fixed: float) -> None:
    sizes = [10**3, 10**4, 10**5, 10**6, 10**7]
    took = [fixed + 1e-7 * size**power for size in sizes]
    assert _slope("work", sizes, took, fixed).ratio == pytest.approx(power)
