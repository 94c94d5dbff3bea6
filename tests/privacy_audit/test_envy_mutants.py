"""The audit catches mistakes in audits of envy, as `test_mutants` does in others."""

from typing import Any

import numpy as np
import pytest

from api.audits import envy_freeness
from api.audits.exploring import Course
from api.audits.taking_part import Drawn, draw_lots
from privacy.price import ADD_REMOVE, CHANGE_ONE
from tests.privacy_audit.cases import cases
from tests.privacy_audit.test_mutants import caught, narrower

CASES = {(case.name, case.relation): case for case in cases()}


@pytest.mark.parametrize(
    "looked_at",
    [
        ("envy, counts", CHANGE_ONE),
        pytest.param(("envy, duration and cost", ADD_REMOVE), marks=pytest.mark.long),
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
    # Three targets leave their counts and one enters another, in place of one and one.
    assert caught(CASES["envy, counts", CHANGE_ONE])


def test_an_arm_of_two_lots_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes moves all lots, and one is paid for."""

    def shared(people: Any, targets: int, arms: int, secret: int) -> Drawn:
        policies = draw_lots(people, targets, arms, secret).policies
        return Drawn(np.column_stack([policies[:, 0], np.tile(policies[0, 1:], (targets, 1))]))

    monkeypatch.setattr(envy_freeness, "draw_lots", shared)
    assert caught(CASES["envy, counts in lots", ADD_REMOVE])
