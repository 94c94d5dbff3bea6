"""Discrete Laplace noise against sums written out."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from auditor_client.stats import noise

RATES = [0.05, 0.25, 1.0, 4.0, math.inf]


def by_definition(rate: float, reach: int) -> dict[int, float]:
    weights = {k: math.exp(-rate * abs(k)) if k else 1.0 for k in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


@pytest.mark.parametrize("rate", RATES)
def test_masses_tails_and_variance_are_those_of_the_definition(rate: float) -> None:
    exact = by_definition(rate, 1500)
    ks = np.arange(-40, 41)
    assert noise.mass(ks, rate) == pytest.approx([exact[int(k)] for k in ks], abs=1e-14)
    tails = [math.fsum(p for j, p in exact.items() if j >= k) for k in ks]
    assert noise.tail(ks, rate) == pytest.approx(tails, abs=1e-13)
    assert noise.variance(rate) == pytest.approx(
        math.fsum(k * k * p for k, p in exact.items()), abs=1e-9
    )


@pytest.mark.parametrize("rate", [0.25, 1.0, 4.0])
def test_moment_generating_function(rate: float) -> None:
    exact = by_definition(rate, math.ceil(600 / rate))
    s = np.array([0.0, 0.1, 0.5, 0.9]) * rate
    direct = [math.log(math.fsum(p * math.exp(u * k) for k, p in exact.items())) for u in s]
    assert noise.log_mgf(s, rate) == pytest.approx(direct, abs=1e-9)
    assert np.isinf(noise.log_mgf(np.array([rate]), rate)).all()


@pytest.mark.parametrize("rate", [0.25, 1.0, math.inf])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_rounding_up_keeps_the_distribution(rate: float, width: int) -> None:
    exact = by_definition(rate, 1000)
    masses = noise.round_masses_up(rate, width)
    half = len(masses) // 2
    for m in range(-min(half, 3), min(half, 3) + 1):
        inside = [p for k, p in exact.items() if (m - 1) * width < k <= m * width]
        assert masses[half + m] == pytest.approx(math.fsum(inside), abs=1e-13)
    assert 1 - 3 * noise.REST <= masses.sum() <= 1 + 1e-12


def summed(terms: tuple[tuple[int, float, int], ...]) -> dict[int, float]:
    total = {0: 1.0}
    for count, rate, weight in terms:
        step = by_definition(rate, math.ceil(35 / rate))
        for _ in range(count):
            longer: dict[int, float] = {}
            for a, p in total.items():
                for k, q in step.items():
                    if p * q > 1e-18:
                        longer[a + weight * k] = longer.get(a + weight * k, 0.0) + p * q
            total = longer
    return total


@pytest.mark.parametrize("level", [0.1, 0.025, 1e-3, 1e-6])
@pytest.mark.parametrize(
    "terms", [((1, 0.25, 1),), ((5, 1.0, 1),), ((3, 1.0, 5), (1, 0.5, 7)), ((2, 4.0, 1),)]
)
def test_quantile_of_a_sum_is_safe_and_least(
    terms: tuple[tuple[int, float, int], ...], level: float
) -> None:
    exact = summed(terms)
    q = noise.sum_quantile(terms, level)

    def tail(k: int) -> float:
        return math.fsum(p for j, p in exact.items() if j >= k)

    assert tail(q) <= level
    assert tail(q - 1) > level * (1 - 1e-3)


def test_quantile_without_noise_and_with_far_too_much() -> None:
    assert noise.sum_quantile(((7, math.inf, 1),), 0.01) == 1
    # 1e-7: the lattice would not fit, Chernoff's bound answers.
    assert noise.sum_quantile(((100, 1e-7, 1),), 0.01) > 2.3 * math.sqrt(200) / 1e-7


@pytest.mark.parametrize("given", [0.5, "0.5", "1/2", Decimal("0.5"), Fraction(1, 2)])
def test_epsilon_in_any_exact_form(given: noise.Epsilon) -> None:
    assert noise.as_rate(given) == 0.5


def test_no_epsilon_is_no_noise() -> None:
    assert noise.as_rate(None) == math.inf
    assert noise.as_rate(math.inf) == math.inf


@pytest.mark.parametrize("bad", [0, -1, 0.0, float("nan"), "x", "", True, [1], "0", "1/0"])
def test_bad_epsilon_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        noise.as_rate(bad)  # type: ignore[arg-type]
