"""Limits of every count by itself, and what they leave possible for the penalty."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from auditor_client.reo.confidence_box import (
    penalty_over,
    relative_over,
    relative_spread,
    utilities_box,
)
from auditor_client.reo.counts import PositiveCounts
from auditor_client.stats.noise_distributions import Laplace


def test_the_penalty_over_a_box_is_that_of_a_fine_grid() -> None:
    low, high = np.array([0.5, 1.0, 0.2]), np.array([0.8, 2.0, 0.4])
    axes = [np.linspace(a, b, 31) for a, b in zip(low, high, strict=True)]
    grid = relative_spread(np.asarray(list(product(*axes))))
    least, most = penalty_over((low, high))
    assert most == pytest.approx(grid.max())
    assert grid.min() - 0.01 < least <= grid.min() + 1e-9


def test_boxes_that_share_a_level_may_be_fair() -> None:
    assert penalty_over((np.array([0.5, 0.4]), np.array([0.8, 0.6])))[0] == 0


def test_an_unbounded_utility_leaves_everything_possible() -> None:
    box = (np.array([0.5, 2.0, 0.1]), np.array([0.8, math.inf, 0.3]))
    least, most = penalty_over(box)
    assert least > 0.5
    assert most == pytest.approx(math.sqrt(2))
    below, above = relative_over(box)
    assert below[0] == pytest.approx(-1)
    assert above[1] == pytest.approx(2)


def test_relative_utilities_lie_between_the_corners() -> None:
    low, high = np.array([0.5, 1.0]), np.array([0.8, 2.0])
    below, above = relative_over((low, high))
    corners = np.asarray(list(product(*zip(low, high, strict=True))))
    found = corners / corners.mean(axis=1, keepdims=True) - 1
    assert np.allclose(below, found.min(axis=0))
    assert np.allclose(above, found.max(axis=0))


@pytest.mark.parametrize("rows", [1, 4])
def test_every_count_keeps_its_level(rows: int) -> None:
    """Exact probabilities of missing a Poisson mean, by summing the law."""
    delta, mean = 0.05, 12.0
    level = delta / 8
    counts = np.arange(0, 80)
    chances = stats.poisson.pmf(counts, mean / rows)
    missed = 0.0
    for count, chance in zip(counts, chances, strict=True):
        one = PositiveCounts(("a", "b"), np.array([float(rows * count), 1e9]))
        other = PositiveCounts(("a", "b"), np.array([1e12, 1e12]))
        low, high = utilities_box(one, other, rows, delta)
        missed += chance * (not low[0] * 0.99 <= mean / 1e12 <= high[0] * 1.01)
    assert missed <= 2 * level


def test_noise_opens_the_box() -> None:
    plain = PositiveCounts(("a", "b"), np.array([50.0, 60.0]))
    noisy = PositiveCounts(plain.groups, plain.positives, noise=Laplace(0.1))
    narrow, wide = (utilities_box(one, plain, 1, 0.05) for one in (plain, noisy))
    assert (wide[0] < narrow[0]).all()
    assert (wide[1] > narrow[1]).all()
