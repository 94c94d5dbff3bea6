"""The inputs of measures from a release: events, sums, and the moments of their noise."""

import math

import numpy as np
import pytest

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.metrics.group_view import CdfGroupView, HistogramGroupView
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Floats, Gaussian, Laplace, Summed, distribution
from privacy.waist.tree import _consistent, _tree, best_branching, worst_prefix
from validation.metric_coverage import incidence

TABLE = (10, 20, 30, 40, 2)


def histogram() -> HistogramGroupView:
    size = GroupSizeEstimate(sum(TABLE), 5, Laplace(1.0), known=100)
    return HistogramGroupView(
        "a", GroupCounts(TABLE, size, Laplace(1.0)), (0.125, 0.375, 0.625, 0.875)
    )


def test_events_are_sums_of_cells_with_their_noise() -> None:
    side = histogram()
    assert side.lower(2).table == (30,)
    assert side.upper(2).table == (72,)
    assert side.lower(2).rate == Summed(((Laplace(1.0), 2),))
    # One cell is less noisy than four: the share below comes from what is not above.
    assert side.share_below(4) == pytest.approx(0.98)
    assert side.share_below(1) == pytest.approx(0.1)


def test_sums_take_a_column_for_outside_or_leave_it_out() -> None:
    side = histogram()
    assert side.sums(np.ones((1, 4)))[0] == 100
    assert side.sums(np.ones((1, 5)))[0] == 102
    f = np.array([[0.1, -0.2, 0.3, 0.0]])
    expected = sum(float(Laplace(1.0).log_mgf(np.array([x]))[0]) for x in f[0])
    assert side.log_mgf(f)[0] == pytest.approx(expected)
    assert math.isinf(side.log_mgf(np.array([[0.0, 0.0, 1.0, 0.0]]))[0])


@pytest.mark.parametrize("leaves", [3, 6, 11, 21, 33, 51])
def test_the_service_makes_running_counts_as_the_proof_assumes(leaves: int) -> None:
    """Least squares, coefficients of at most one, squares that add up to what the price states."""
    branching = best_branching(leaves)
    tree, consistent = _tree(leaves, branching), _consistent(branching)
    nodes = len(tree(np.zeros(leaves, np.int64)))
    unit = 10**6
    columns = [np.asarray(consistent(row)) / unit for row in unit * np.eye(nodes, dtype=np.int64)]
    running = np.cumsum(np.array(columns).T[:leaves], axis=0)
    above = np.array([tree(row) for row in np.eye(leaves, dtype=np.int64)], np.float64).T
    assert running == pytest.approx(np.cumsum(np.linalg.pinv(above), axis=0), abs=1e-9)
    assert np.abs(running).max() <= 1 + 1e-9
    assert (running**2).sum(axis=1).max() <= worst_prefix(leaves, branching) ** 2 + 1e-9
    assert (running[-1] ** 2).sum() <= 1 + 1e-9


@pytest.mark.parametrize("leaves", [5, 12, 21])
def test_moments_of_a_tree_are_bounded_from_above(leaves: int) -> None:
    generator, rate = np.random.default_rng(leaves), 0.5
    solve = np.linalg.pinv(incidence(leaves))
    copies = float((np.cumsum(solve, axis=0) ** 2).sum(axis=1).max())
    middles = tuple((np.arange(leaves - 1) + 0.5) / (leaves - 1))
    side = CdfGroupView("a", tuple(np.arange(1.0, leaves + 1)), rate, copies, middles)
    one = Laplace(rate)

    def exact(f: Floats) -> float:
        return float(one.log_mgf(f @ solve).sum())

    for _ in range(50):
        f = generator.uniform(-0.2, 0.2, leaves)
        assert exact(f) <= side.log_mgf(f[None, :])[0] + 1e-9
        # A function with slopes of at most one, 0 at the centre and outside, less a constant.
        slopes = generator.uniform(-1, 1, leaves - 2) * np.diff(middles)
        g = np.append(0.0, np.cumsum(slopes))
        g = np.append(g - np.interp(side.centre, middles, g), 0.0)
        c, s = generator.uniform(-0.4, 0.4), 0.3
        bound = side.log_mgf_lipschitz(np.array([s]), 0.4)[0]
        assert exact(s * (g - c)) <= bound + 1e-9
    for k in range(1, leaves):
        prefix = (np.arange(leaves) < k).astype(np.float64)
        for tilt in (0.1, 0.4):
            at = np.array([tilt])
            assert exact(tilt * prefix) <= distribution(side.lower(k).rate).log_mgf(at)[0]
            assert exact(tilt * (1 - prefix)) <= distribution(side.upper(k).rate).log_mgf(at)[0]


def test_histogram_moments_of_unknown_functions_are_bounded_from_above() -> None:
    side, generator = histogram(), np.random.default_rng(1)
    for _ in range(50):
        g = np.append(0.0, np.cumsum(generator.uniform(-0.25, 0.25, 3)))
        g = np.append(g - np.interp(0.5, side.middles, g), 0.0)
        c = generator.uniform(-0.3, 0.3)
        exact = side.log_mgf(0.7 * (g - c)[None, :])[0]
        assert exact <= side.log_mgf_lipschitz(np.array([0.7]), 0.3)[0] + 1e-12


def test_gaussian_noise_has_moments_everywhere() -> None:
    size = GroupSizeEstimate(100, 5, Gaussian(1.0), known=100)
    side = HistogramGroupView("a", GroupCounts(TABLE, size, Gaussian(1.0)), (0.1, 0.2, 0.3, 0.4))
    assert side.log_mgf(np.array([[3.0, 0.0, 0.0, 0.0]]))[0] == pytest.approx(4.5)
