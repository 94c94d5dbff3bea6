"""Forecasts compared with the averages of runs of the platform's own algorithms."""

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import Terms as Promise
from api.kinds.envy_freeness.algorithms import beta, make_fleet, run
from api.kinds.envy_freeness.algorithms.terms import Bounds
from auditor_client.envy import EnvyTerms, forecast
from auditor_client.envy.forecast_paper import Printed
from auditor_client.errors import InputError
from platform_sim.exploration.bandits import PROBLEMS, equal_arms
from tests.refusals import refuses


def test_widths_are_those_of_the_platform() -> None:
    course = Printed(np.array([[0.5] + [0.3] * 9]), EnvyTerms(0.05, 0.05, 0.1, "printed"))
    n = np.array([1, 10, 100, 1000])
    assert course._beta(n.astype(float)) == pytest.approx(beta(n, 9, 0.05, 0.99, 0.5))


@pytest.mark.parametrize(
    ("problem", "alpha", "bounds", "tolerance"),
    [(1, 0.4, "tight", 0.05), (4, 0.1, "tight", 0.05), (3, 0.2, "printed", 0.3)],
)
def test_a_forecast_is_near_the_average(
    problem: int, alpha: float, bounds: Bounds, tolerance: float
) -> None:
    rng, means = np.random.default_rng(problem), PROBLEMS[problem]
    fleet = make_fleet(Promise(0.05, tolerance, alpha, bounds=bounds), len(means) - 1, 24)
    ended = run(fleet, equal_arms(means, rng), rng)
    found = forecast(means, EnvyTerms(0.05, tolerance, alpha, bounds))
    assert found.verdicts[0] == ended.verdicts[0]
    assert found.steps[0] == pytest.approx(ended.steps.mean(), rel=0.4)
    assert np.sign(found.costs[0]) == np.sign(ended.true_cost(means).mean())


def test_many_targets_are_followed_as_each_alone() -> None:
    means = np.array([[0.6, 0.3, 0.2], [0.3, 0.6, 0.1]])
    terms = EnvyTerms(0.05, 0.1, 0.3)
    both, alone = forecast(means, terms), [forecast(row, terms) for row in means]
    assert list(both.verdicts) == ["no-envy", "envy"]
    assert both.steps == pytest.approx([one.steps[0] for one in alone])
    assert both.costs == pytest.approx([one.costs[0] for one in alone])


def test_a_ceiling_leaves_undecided() -> None:
    found = forecast([0.5, 0.5], EnvyTerms(0.05, 0.01, 0.2), ceiling=500)
    assert (found.verdicts[0], found.steps[0]) == ("undecided", 500)


def test_bad_input_is_named() -> None:
    with refuses(InputError, "means"):
        forecast([0.5, 1.2], EnvyTerms(0.05, 0.1, 0.2))
    with refuses(InputError, "means"):
        forecast([0.5], EnvyTerms(0.05, 0.1, 0.2))
    with pytest.raises(InputError, match=r"\balpha\b"):
        EnvyTerms(0.05, 0.1, 0.0)
    with refuses(InputError, "bounds", "'printed'", "'tight'"):
        EnvyTerms(0.05, 0.1, 0.1, "loose")  # type: ignore[arg-type]
