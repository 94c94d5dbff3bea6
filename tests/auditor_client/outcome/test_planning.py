"""Planned sizes against whole simulated tests."""

from pathlib import Path

import pytest

from auditor_client import InputError, outcome
from auditor_client.outcome import planning
from privacy.plans.outcome_test import MOMENT_UNITS, moments_of_a_row
from tests.refusals import refuses

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("effect", "epsilon", "bins"), [(0.2, 1.0, 2), (0.25, None, 3)])
def test_planned_people_find_the_effect_as_often_as_planned(
    effect: float, epsilon: float | None, bins: int
) -> None:
    people = outcome.sample_size(effect, epsilon=epsilon, bins=bins, power=0.8)
    plan = outcome.OutcomeTestPlan(effect, bins, epsilon=epsilon)
    assert outcome.power_of(plan, people) == pytest.approx(0.8, abs=0.01)
    # 60 runs of two or three bins: a deviation of .2 is above three standard errors.
    assert outcome.simulated_power(plan, people, runs=60) == pytest.approx(0.8, abs=0.2)


def test_more_is_needed_for_privacy_for_small_effects_and_for_many_bins() -> None:
    usual = outcome.sample_size(0.1)
    assert outcome.sample_size(0.1, epsilon=None) < usual < outcome.sample_size(0.1, epsilon=0.1)
    assert outcome.sample_size(0.05) > 3 * usual
    assert outcome.sample_size(0.1, bins=20) > 1.9 * usual
    assert outcome.sample_size(0.1, threshold_only=True) < usual
    assert outcome.sample_size(0.1, rows_per_person=4, epsilon=None) == pytest.approx(
        outcome.sample_size(0.1, epsilon=None), rel=0.02
    )


def test_the_noise_that_is_planned_with_is_the_one_of_a_release() -> None:
    assert tuple(MOMENT_UNITS.values()) == planning.UNITS
    assert moments_of_a_row().l1 == planning.REACH


def test_the_docs_have_what_is_computed() -> None:
    page = (DOCS / "explanation/outcome-test.md").read_text(encoding="utf-8")
    for effect, bins in ((0.1, 10), (0.2, 5)):
        sizes = [outcome.sample_size(effect, epsilon=e, bins=bins) for e in (1.0, None)]
        assert f"| {effect:g} | {bins} | {sizes[0]:,} | {sizes[1]:,} |" in page


def test_plans_that_make_no_sense_are_refused() -> None:
    with refuses(InputError, "effect-out-of-range"):
        outcome.sample_size(0.6)
    with pytest.raises(InputError, match="power"):
        outcome.sample_size(0.1, power=1.0)
    with refuses(InputError, "few-bins-groups-or-rows"):
        outcome.OutcomeTestPlan(0.1, groups=1)
