"""Tails and limits of one bin against sums written out, and against simulated truth."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from auditor_client.stats import chernoff, difference_tail, noise
from auditor_client.stats.difference_tail import Count, tail_upper_bound
from auditor_client.stats.difference_test import (
    Contrast,
    Level,
    least_favourable,
    rejects_by_chernoff,
)
from auditor_client.stats.upper_limit import contrast_upper_limit


def noisy_binomial(people: int, p: float, rate: float) -> dict[int, float]:
    """Masses of X + Z from the definitions alone."""
    reach = 0 if math.isinf(rate) else math.ceil(35 / rate)
    norm = sum(math.exp(-rate * abs(k)) if k else 1.0 for k in range(-reach, reach + 1))
    masses: dict[int, float] = {}
    for x, k in product(range(people + 1), range(-reach, reach + 1)):
        weight = math.comb(people, x) * p**x * (1 - p) ** (people - x)
        weight *= (math.exp(-rate * abs(k)) if k else 1.0) / norm
        masses[x + k] = masses.get(x + k, 0.0) + weight
    return masses


def brute(first: Count, second: Count, ratio: float, p_first: float, p_second: float) -> float:
    assert isinstance(first.rate, float)
    assert isinstance(second.rate, float)
    ours = noisy_binomial(first.people, p_first, first.rate)
    theirs = noisy_binomial(second.people, p_second, second.rate)
    bar = first.value - ratio * second.value
    return math.fsum(
        p * q for c, p in ours.items() for d, q in theirs.items() if c - ratio * d <= bar + 1e-9
    )


@pytest.mark.parametrize("shares_", [(0.3, 0.2), (0.0, 0.1), (1.0, 0.9), (0.01, 0.5), (0.5, 1.0)])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Count(3, 12, 1.0), Count(5, 12, 1.0)),
        (Count(4, 9, 0.5), Count(-2, 14, 1.0)),
        (Count(2, 10, math.inf), Count(5, 10, 2.0)),
    ],
)
def test_tail_of_a_difference_is_the_exact_sum(
    first: Count, second: Count, shares_: tuple[float, float]
) -> None:
    p_first, p_second = shares_
    for ratio in (1.0, first.people / second.people):
        exact = brute(first, second, ratio, p_first, p_second)
        found = tail_upper_bound(first, second, ratio, np.array([p_first]), np.array([p_second]))[0]
        assert exact - 1e-12 <= found <= exact + 1e-9


def test_blocks_bound_the_exact_sum_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    p = np.linspace(0.02, 0.95, 25)
    q = np.clip(p + 0.03, 0, 1)
    first, second = Count(400, 900, 0.5), Count(460, 1100, 0.5)
    exact = tail_upper_bound(first, second, 0.9, p, q)
    monkeypatch.setattr(difference_tail, "_EXACT_BELOW", 2.0)
    monkeypatch.setattr(difference_tail, "_BLOCKS", 4.0)
    blocks = tail_upper_bound(first, second, 0.9, p, q)
    assert (blocks >= exact - 1e-9).all()
    assert (blocks <= exact + 0.35).all()


@pytest.mark.parametrize("n", [1, 2, 7, 60, 2500])
def test_zubkov_serov_bounds_hold(n: int) -> None:
    k = np.arange(n)
    for p in (0.001, 0.03, 0.3, 0.5, 0.77, 0.999):
        bound = difference_tail._below(n, np.array([p]), np.arange(-1, n + 2)[None, :])[0]
        truth = stats.binom.cdf(k, n, p)
        assert (bound[1 : n + 1] <= truth + 1e-12).all()
        assert (truth <= bound[2 : n + 2] + 1e-12).all()
        assert bound[0] == 0
        assert bound[-1] == 1


def test_large_groups_lose_little_to_blocks() -> None:
    n = 1_000_000
    sd = math.sqrt(n / 2)
    half = np.array([0.5])
    first, second = Count(n // 2 - round(1.5 * sd), n, 1.0), Count(n // 2 + round(sd / 2), n, 1.0)
    found = tail_upper_bound(first, second, 1.0, half, half)[0]
    assert stats.norm.cdf(-2) <= found <= stats.norm.cdf(-1.9)


@pytest.mark.parametrize("rate", [0.5, 1.0, math.inf])
@pytest.mark.parametrize("value", [-3, 0, 4, 11, 20])
def test_share_limits_keep_every_plausible_share(rate: float, value: int) -> None:
    level = 0.01
    low, high = chernoff.limits((value,), (15, 15), rate, level)[0]
    for p in np.linspace(0, 1, 41):
        masses = noisy_binomial(15, float(p), rate)
        if p > high:
            assert math.fsum(m for c, m in masses.items() if c <= value) <= level
        if p < low:
            assert math.fsum(m for c, m in masses.items() if c >= value) <= level


def contrast(first: Count, second: Count, ratio: float = 1.0, level: float = 1e-3) -> Contrast:
    boxes = [
        chernoff.limits((count.value,), (count.people, count.people), count.rate, level)[0]
        for count in (first, second)
    ]
    return Contrast(first, second, ratio, boxes[0], boxes[1])


def constant(level: float) -> Level:
    return lambda p: np.full_like(p, level)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Count(3, 10, 1.0), Count(2, 10, 1.0)),
        (Count(8, 10, 2.0), Count(1, 12, 2.0)),
        (Count(0, 14, 1.0), Count(9, 14, 1.0)),
    ],
)
def test_limit_rejects_every_pair_beyond_and_little_less(first: Count, second: Count) -> None:
    level, ratio = 0.025, first.people / second.people
    cell = contrast(first, second, ratio)
    limit = contrast_upper_limit(cell, constant(level), -1.0, 1.0)
    (low, high), (other_low, other_high) = cell.p_first, cell.p_second
    grid = [(p, q) for p in np.linspace(0, 1, 21) for q in np.linspace(0, 1, 21)]
    plausible = [(p, q) for p, q in grid if low <= p <= high and other_low <= q <= other_high]
    values = {(p, q): brute(first, second, ratio, float(p), float(q)) for p, q in plausible}
    beyond = [value for (p, q), value in values.items() if p - q >= limit]
    assert max(beyond, default=0.0) <= level
    # Not wasteful: some plausible pair a little less far apart is not rejected.
    closer = [value for (p, q), value in values.items() if limit - 0.15 <= p - q < limit]
    assert max(closer) > level / 4


@pytest.mark.parametrize("people", [30, 400, 100_000])
def test_quick_rejection_implies_the_exact_one(people: int) -> None:
    first, second = Count(people // 10, people, 1.0), Count(people // 9, people, 1.0)
    cell = contrast(first, second)
    for difference in np.linspace(0, 0.5, 26):
        if rejects_by_chernoff(cell, float(difference), 0.025):
            assert least_favourable(cell, float(difference), constant(0.025)).rejected


def test_limit_grows_with_the_first_count_and_falls_with_the_second() -> None:
    def limit(first: int, second: int) -> float:
        cell = contrast(Count(first, 150, 1.0), Count(second, 150, 1.0))
        return contrast_upper_limit(cell, constant(0.025), -1.0, 1.0)

    rising = [limit(first, 20) for first in (5, 20, 40, 80)]
    falling = [limit(40, second) for second in (5, 20, 40, 80)]
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)


def test_noise_masses_enter_once() -> None:
    p = np.array([0.4])
    quiet = tail_upper_bound(Count(30, 100, math.inf), Count(45, 100, math.inf), 1.0, p, p)[0]
    loud = tail_upper_bound(Count(30, 100, 0.2), Count(45, 100, 0.2), 1.0, p, p)[0]
    assert quiet < loud < 0.5
    assert noise.variance(0.2) == pytest.approx(50, rel=0.01)
