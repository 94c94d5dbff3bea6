"""The sensitivity of an envy audit in lots: one lot, and two in a sample of exact size."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from api.kinds.envy_freeness import EnvyFreeness, tallied
from api.kinds.envy_freeness.algorithms import BatchOutcomes
from api.kinds.envy_freeness.algorithms.terms import VERDICTS, Verdict
from api.kinds.registry import AudienceFacts
from privacy.plans.envy_freeness import COST_UNIT
from privacy.tables.bounded_table import Reach
from tests.exploring import asked

FACTS = AudienceFacts(("g0",), 1, None, members=400, consented=True)
STEPS = 300


def bounds_of(*, slots: bool, **changes: Any) -> dict[str, Any]:
    request = asked(steps=STEPS, **changes)
    plan = EnvyFreeness().plan(request, replace(FACTS, fixed_slots=slots))
    return {name: mechanism.bounds for name, mechanism in plan.items()}


@pytest.mark.parametrize(("slots", "lots"), [(False, 1), (True, 2)])
def test_a_lot_goes_from_anything_to_anything(slots: bool, lots: int) -> None:
    """Each lot leaves one count for the other, and its sums go from one end to the other."""
    found = bounds_of(slots=slots, arms_per_person=1)
    assert found["counts"].added == Reach(2 * lots, 2 * lots**2, lots)
    assert found["duration"].added == _whole(lots * STEPS)
    assert found["cost"].added == _whole(lots * 2 * COST_UNIT * STEPS)
    for bounds in found.values():
        added, changed = bounds.added, bounds.changed
        assert changed == Reach(2 * added.l1, 4 * added.l2_squared, 2 * added.linf)


def _whole(span: int) -> Reach:
    return Reach(span, span**2, span)


def test_a_target_who_withdrew_is_in_neither_count() -> None:
    """Their steps and their cost are in the sums, as the release says."""
    verdicts: list[Verdict] = ["envy", "no-envy", "no-envy", "undecided", "withdrawn", "withdrawn"]
    codes = np.array([VERDICTS.index(each) for each in verdicts], np.int8)
    pulls, steps = np.ones((6, 2), np.int64), np.full(6, 2)
    sums, mended = np.full((6, 2), 0.5), np.zeros(6, np.int64)
    found = tallied(BatchOutcomes(codes, steps, pulls, sums, mended), STEPS)
    assert found["counts"].tolist() == [1, 2]
    assert found["duration"].tolist() == [12]


def test_what_a_target_took_is_clipped() -> None:
    """Whatever rewards and steps say, one target adds no more than was priced."""
    codes = np.array([VERDICTS.index("envy"), VERDICTS.index("no-envy")], np.int8)
    wild = BatchOutcomes(
        codes=codes,
        steps=np.array([10 * STEPS, -5]),
        pulls=np.array([[1, 50 * STEPS], [1, 50 * STEPS]]),
        sums=np.array([[1.0, 0.0], [0.0, 40.0 * STEPS]]),
        mended=np.zeros(2, np.int64),
    )
    found = tallied(wild, STEPS)
    assert found["counts"].tolist() == [1, 1]
    assert found["duration"].tolist() == [STEPS]
    # One target lost all that there is, the other gained it.
    assert found["cost"].tolist() == [0]
    alone = replace(wild, **{name: getattr(wild, name)[:1] for name in vars(wild)})
    assert tallied(alone, STEPS)["cost"].tolist() == [COST_UNIT * STEPS]
