"""The audit catches mistakes in audits of envy, as `test_mutants` does in others."""

from typing import Any

import numpy as np
import pytest

from api.kinds import envy_freeness
from api.kinds.envy_freeness.exploration import Course
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots
from privacy.plans import envy_freeness as envy
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE
from privacy.tables.sensitivity import Lots
from tests.privacy_audit.cases import cases
from tests.privacy_audit.test_mutants import caught, narrower

pytestmark = pytest.mark.long

CASES = {(case.name, case.relation): case for case in cases()}


@pytest.mark.parametrize(
    "looked_at",
    [
        ("envy, counts", CHANGE_ONE),
        pytest.param(("envy, duration", ADD_REMOVE), marks=pytest.mark.full),
        pytest.param(("envy, cost", ADD_REMOVE), marks=pytest.mark.full),
    ],
    ids=lambda looked_at: looked_at[0],
)
def test_a_halved_scale_is_caught(looked_at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    narrower(0.5)(monkeypatch)
    assert caught(CASES[looked_at])


def test_a_verdict_that_ends_it_for_all_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Algorithm 2 to the letter: the first envy ends it."""
    advance = Course.advance

    def ending(course: Course, *arguments: Any) -> None:
        advance(course, *arguments)
        if course.fleet.outcomes.are("envy").any():
            course.fleet.outcomes.codes[~course.fleet.outcomes.are("envy")] = 0

    monkeypatch.setattr(Course, "advance", ending)
    # One target is in envy, which hides that two others are not; without the arm nobody is.
    assert caught(CASES["envy, counts", ADD_REMOVE])


def test_an_arm_of_every_lot_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person decides about all lots, and one is paid for."""

    def shared(people: Any, targets: int, arms: int, each: int, secret: int) -> DrawnLots:
        drawn = draw_lots(people, targets, arms, each, secret)
        same = np.tile(drawn.policies[0, 1:], (len(drawn.targets), 1))
        return DrawnLots(np.column_stack([drawn.targets, same]), drawn.lots)

    monkeypatch.setattr(envy_freeness, "draw_lots", shared)
    assert caught(CASES["envy, counts", ADD_REMOVE])


def test_lots_that_are_counted_once_for_several_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two lots of each person are drawn, and one is paid for."""

    def one_lot(l1: int, l2_squared: int, linf: int, _each: int, slots: bool) -> Lots:
        return Lots(l1, l2_squared, linf, 1, slots)

    monkeypatch.setattr(envy, "Lots", one_lot)
    assert caught(CASES["envy, counts, two lots each", ADD_REMOVE])
