"""Floating-point noise: its low-order bits tell what it was added to (Mironov, CCS 2012)."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privacy.tables.bounded_table import Bounds, Table
from privacy.waist import DiscreteGaussian, DiscreteLaplace, LaplaceTree, Mechanism

RUNS = 20_000
# Sums of 1 and a double near −1 are whole multiples of this; doubles near 0 need not be.
GRID = 2.0**-53


def fine(released: NDArray[np.float64]) -> float:
    """Count the releases near 0 with bits that no sum with 1 has."""
    near = released[np.abs(released) < 1 / 16]
    return float(np.mean(near / GRID != np.round(near / GRID))) if len(near) else 0.0


BOUNDS = Bounds.counts((RUNS, 1), 1)
LAPLACE = DiscreteLaplace(BOUNDS, Fraction(1))
MECHANISMS = [LAPLACE, DiscreteGaussian(BOUNDS, Fraction(1, 2))]


def released(mechanism: Mechanism, count: int) -> NDArray[Any]:
    """Release the same count several times."""
    return np.asarray(mechanism.release(Table(BOUNDS, np.full(BOUNDS.shape, count, np.int64))))


def test_the_bits_of_floating_noise_tell_a_count_of_0_from_a_count_of_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: NumPy's Laplace noise on a count, as in many a tutorial."""
    noise = np.random.default_rng(1).laplace
    monkeypatch.setattr(DiscreteLaplace, "noise", lambda _: noise(size=BOUNDS.shape))
    assert fine(released(LAPLACE, 0)) > 0.9
    assert fine(released(LAPLACE, 1)) == 0


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_ours_has_no_bits_below_one(mechanism: Mechanism) -> None:
    for count in (0, 1):
        found = released(mechanism, count)
        assert found.dtype == np.int64
        assert fine(found.astype(np.float64)) == 0


def test_the_fractions_of_a_consistent_tree_come_from_integers_alone() -> None:
    """Least squares over noisy integers: every value is a whole number of fixed fractions."""
    bounds = Bounds.counts((1, 4), 1)
    mechanism = LaplaceTree(bounds, Fraction(1))
    # (AᵀA)⁻¹ of this tree has the denominator 5: all that came out does so for any counts.
    for counts in ([0, 0, 0, 0], [1, 0, 0, 0]):
        table = Table(bounds, np.array([counts], np.int64))
        found = np.array([mechanism.release(table) for _ in range(200)])
        assert np.allclose(found * 5, np.round(found * 5), atol=1e-9)
