"""Critical values: of normal errors with Laplace noise in them, and of curved hypotheses."""

import numpy as np
import pytest
from scipy import stats

from auditor_client.reo.norm_bounds import Axes
from auditor_client.stats.critical_values import outward_quantile, quantile


@pytest.mark.parametrize("heavy", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_quantile_of_normal_and_laplace_errors(heavy: float) -> None:
    rng = np.random.default_rng(1)
    draws = rng.normal(0, np.sqrt(1 - heavy), 400_000) + rng.laplace(
        0, np.sqrt(heavy / 2) or 1e-12, 400_000
    )
    z = quantile(0.025, heavy)
    # A share of .025 in 400,000 draws is off by .0012 once in a million.
    assert float(np.mean(draws > z)) == pytest.approx(0.025, abs=0.0012)


def test_at_levels_where_laplace_is_lighter_the_normal_quantile_stays() -> None:
    assert quantile(0.2, 1.0) == pytest.approx(stats.norm.isf(0.2))


def test_two_groups_need_no_more_than_the_usual_value() -> None:
    assert (
        outward_quantile(2, 0.0, 0.05)
        == outward_quantile(2, 5.0, 0.05)
        == pytest.approx(1.959964, abs=1e-6)
    )


def test_a_flat_surface_needs_the_usual_value_and_a_point_that_of_all_directions() -> None:
    assert outward_quantile(4, 1e6, 0.05) == pytest.approx(1.959964, abs=1e-3)
    rng = np.random.default_rng(2)
    draws = rng.standard_normal((400_000, 3))
    length = np.linalg.norm(draws, axis=1)
    c = outward_quantile(4, 0.0, 0.05)
    missed = np.mean((length > c) & (draws[:, 0] >= -1.959964))
    assert float(missed) == pytest.approx(0.025, abs=0.0012)
    assert np.sqrt(stats.chi2.isf(0.05, 3)) - 0.05 < c < np.sqrt(stats.chi2.isf(0.02, 3))


def test_values_fall_as_the_surface_flattens() -> None:
    found = [outward_quantile(5, radius, 0.05) for radius in (0.0, 0.5, 1.0, 2.0, 8.0, 100.0)]
    assert found == sorted(found, reverse=True)


def test_the_longest_and_the_shortest_vector_are_those_of_a_search() -> None:
    """Every vector on the edge of the ellipsoid, by brute force in the plane."""
    axes = Axes(np.array([3.0, 1.0]), np.array([0.04, 0.25]), 0.0)
    z = quantile(0.025)
    angles = np.linspace(0, 2 * np.pi, 200_001)
    edge = axes.where[:, None] + z * np.sqrt(axes.variances)[:, None] * np.array(
        [np.cos(angles), np.sin(angles)]
    )
    lengths = np.linalg.norm(edge, axis=0)
    assert axes.longest(0.05) == pytest.approx(lengths.max(), rel=1e-6)
    # Far from zero the surface is nearly flat: a little shorter than the search finds.
    assert lengths.min() * 0.97 < axes.shortest(0.05) <= lengths.min()


def test_the_longest_vector_goes_where_the_estimate_has_no_share() -> None:
    axes = Axes(np.array([1.0, 0.0]), np.array([0.01, 1.0]), 0.0)
    z = quantile(0.025)
    angles = np.linspace(0, 2 * np.pi, 200_001)
    edge = np.array([1 + z * 0.1 * np.cos(angles), z * np.sin(angles)])
    assert axes.longest(0.05) == pytest.approx(np.linalg.norm(edge, axis=0).max(), rel=1e-4)
