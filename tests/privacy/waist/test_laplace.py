"""Discrete Laplace noise: never cheaper than its price, of the stated law, and nobody's seed."""

import math
import random
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_laplace
from opendp.metrics import l1_distance
from scipy.stats import chi2

from privacy.errors import UnderpaidError
from privacy.tables.bounded_table import Bounds, Reach
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, Relation
from privacy.waist import DiscreteLaplace
from privacy.waist.calibration import find_scale, make_calibrated
from tests.refusals import refuses

MICRO = 1_000_000
# Every epsilon the wire can carry, and every reach an audience can have.
micros = st.integers(1, 10 * MICRO)
reaches = st.integers(1, 10)


def mechanism(epsilon: Fraction | int, reach: int = 1, cells: int = 1) -> DiscreteLaplace:
    return DiscreteLaplace(Bounds.counts((cells,), reach), Fraction(epsilon))


def opendp_map(scale: float, distance: int) -> Fraction:
    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
    made: Any = make_laplace(*space, scale=scale)
    return Fraction(made.map(distance))


@settings(max_examples=500)
@given(micros, reaches)
@example(1, 1)
@example(1, 10)
@example(3 * MICRO, 1)
@example(10 * MICRO, 3)
def test_the_price_is_never_rounded_down(micro: int, reach: int) -> None:
    laplace = mechanism(Fraction(micro, MICRO), reach)
    scale = Fraction(laplace.scale)
    moves: list[tuple[int, Relation]] = [(reach, ADD_REMOVE), (2 * reach, CHANGE_ONE)]
    for distance, relation in moves:
        assert distance / scale <= laplace.price.amount("epsilon", relation)
        assert opendp_map(laplace.scale, distance) <= laplace.price.amount("epsilon", relation)
    # And no more noise is added than a few units in the last place explain.
    assert scale <= Fraction(reach * MICRO, micro) * (1 + Fraction(1, 10**14))


def test_the_price_is_exact_under_both_relations() -> None:
    price = mechanism(Fraction(1, 3), reach=7).price
    assert price.amount("epsilon", ADD_REMOVE) == Fraction(1, 3)
    assert price.amount("epsilon", CHANGE_ONE) == Fraction(2, 3)
    # A table in which a change is no worse than an addition is not charged double.
    once = DiscreteLaplace(Bounds((5,), Reach(2, 2, 1), Reach(2, 2, 1)), Fraction(1))
    assert once.price.amount("epsilon", CHANGE_ONE) == 1


@pytest.mark.parametrize("epsilon", ["0.05", "0.25", "1", "4"])
def test_noise_follows_the_discrete_laplace_law(epsilon: str) -> None:
    n = 60_000
    laplace = mechanism(Fraction(epsilon), cells=n)
    q = math.exp(-1 / laplace.scale)

    def pmf(k: int) -> float:
        return (1 - q) / (1 + q) * q ** abs(k)

    drawn = laplace.noise()
    # Cells of their own for every value expected at least 50 times, and one for each tail.
    widest = max(k for k in range(10_000) if n * pmf(k) >= 50)
    values = range(-widest, widest + 1)
    tail = q ** (widest + 1) / (1 + q)
    expected = np.array([tail, *(pmf(k) for k in values), tail]) * n
    clipped = np.clip(drawn, -widest - 1, widest + 1) + widest + 1
    observed = np.bincount(clipped, minlength=len(expected))
    keep = expected >= 5
    statistic = float(((observed - expected)[keep] ** 2 / expected[keep]).sum())
    # Four tests at 1e-7 each: they fail by chance less often than once in a million runs.
    assert chi2.sf(statistic, keep.sum() - 1) > 1e-7


def test_noise_is_fresh_for_every_cell_and_every_release() -> None:
    laplace = DiscreteLaplace(Bounds.counts((40, 50), 1), Fraction(1, 1000))
    first, second = laplace.noise(), laplace.noise()
    assert first.shape == (40, 50)
    # At scale 1000 two cells agree with probability below 1/2000: 2,000 cells never do by chance.
    assert (first == second).mean() < 0.1
    assert len(np.unique(first)) > 500


def test_nobody_can_seed_the_noise() -> None:
    laplace = mechanism(Fraction(1, 100), cells=200)

    def seeded() -> list[int]:
        np.random.seed(7)
        random.seed(7)
        return [int(value) for value in laplace.noise()]

    # 200 draws at scale 100 agree with probability below 1e-400.
    assert seeded() != seeded()


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "2.5", "10"])
def test_the_standard_deviation_is_that_of_the_law(epsilon: str) -> None:
    laplace = mechanism(Fraction(epsilon))
    q = math.exp(-1 / laplace.scale)
    weights = [q**k for k in range(1, 20_000)]
    total = 1 + 2 * math.fsum(weights)
    second = 2 * math.fsum(k * k * weight for k, weight in enumerate(weights, start=1))
    assert laplace.standard_deviation == pytest.approx(math.sqrt(second / total), rel=1e-9)


@settings(max_examples=300)
@given(micros, st.sampled_from([0.5, 0.1, 0.05, 0.01, 1e-6]))
@example(1, 0.05)
@example(10 * MICRO, 0.9)
def test_the_error_is_the_least_that_holds(micro: int, probability: float) -> None:
    laplace = mechanism(Fraction(micro, MICRO))
    least = laplace.error(probability)
    assert _beyond(laplace.scale, least) <= Decimal(probability)
    assert least == 0 or _beyond(laplace.scale, least - 1) > Decimal(probability)


def test_the_error_is_that_of_a_brute_force_sum() -> None:
    laplace = mechanism(Fraction(1, 2))
    q = math.exp(-1 / laplace.scale)
    mass = [(1 - q) / (1 + q) * q**k for k in range(1_000)]
    for probability in (0.5, 0.2, 0.05, 0.001):
        tails = [2 * math.fsum(mass[t + 1 :]) for t in range(100)]
        least = next(t for t, tail in enumerate(tails) if tail <= probability)
        assert laplace.error(probability) == least


def _beyond(scale: float, t: int) -> Decimal:
    """P(|noise| > t), to 50 digits."""
    with localcontext() as context:
        context.prec = 50
        q = (-1 / Decimal(scale)).exp()
        return 2 * q ** (t + 1) / (1 + q)


def test_equal_mechanisms_are_made_once_and_draw_from_many_threads_at_once() -> None:
    cells, draws = 50, 400
    first, second = (mechanism(Fraction(1, 1000), cells=cells) for _ in range(2))
    assert make_calibrated(first) is make_calibrated(second)
    assert make_calibrated(first) is not make_calibrated(mechanism(Fraction(1, 999), cells=cells))
    with ThreadPoolExecutor(8) as pool:
        found = np.array(list(pool.map(lambda _: first.noise(), range(draws))))
    # Two equal rows of fifty cells at scale 1000: far below 1e-100.
    assert len(np.unique(found, axis=0)) == draws
    # The mean of 20,000 cells is within six of its standard deviations but once in 5e8.
    assert abs(found.mean()) < 6 * first.standard_deviation / math.sqrt(found.size)


def test_a_mechanism_that_opendp_does_not_vouch_for_is_not_made() -> None:
    class Cheap(DiscreteLaplace):
        def within_price(self, mechanism: Any) -> bool:
            return self.tries.pop()

        tries: ClassVar = [False, True]

    cheap = Cheap(Bounds.counts((1,), 1), Fraction(1))
    assert find_scale(cheap) == cheap.least
    with refuses(UnderpaidError, "unconfirmed-price"):
        make_calibrated(cheap)
