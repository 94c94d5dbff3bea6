"""Noise is counted: limits hold, tests do not cry wolf, and what it drowns is called undefined."""

from functools import cache

import numpy as np
import pytest
import statsmodels.stats.proportion as proportion
from scipy import stats

from auditor_client import outcome
from auditor_client.outcome.effects import DROWNED, FEW, OFF_SUPPORT
from auditor_client.outcome.error_quantiles import p_value, two_sided_quantile, wald_tail
from auditor_client.stats.noise_distributions import Laplace
from tests.auditor_client.outcome.logs import COLUMNS, UNITS, log, released, run_test

EDGES = [0.0, 0.3, 0.5, 0.7, 1.0]
INNER = [0.2, 0.4, 0.6, 0.8]


RUNS = 25


def _law(epsilon: float) -> Laplace:
    return Laplace(epsilon / (3.25 * 2**20))


@cache
def _truth(effect: float) -> tuple[list[float], list[float]]:
    found = run_test(log(1_000_000, seed=99, effect=effect), bins=INNER)
    return [each.estimate for each in found.effects], [each.mean for each in found.marginals]


@pytest.mark.parametrize(("effect", "epsilon"), [(0.0, 1.0), (0.15, 0.7)])
def test_limits_hold_with_noise(effect: float, epsilon: float) -> None:
    effects, means = _truth(effect)
    missed = averages = any_missed = rejected = 0
    for seed in range(RUNS):
        exact = outcome.from_frame(log(6_000, seed=seed, effect=effect), **COLUMNS, bins=INNER)
        found = outcome.test(released(exact, _law(epsilon), seed), binary=True)
        assert all(each.defined for each in found.effects)
        pairs = list(zip(found.effects, effects, strict=True))
        missed += sum(not each.low <= true <= each.high for each, true in pairs)
        any_missed += any(not each.low_all <= true <= each.high_all for each, true in pairs)
        averages += sum(
            not each.low <= true <= each.high
            for each, true in zip(found.marginals, means, strict=True)
        )
        assert found.wald is not None
        rejected += found.wald.p_value < 0.05
    # Misses are at most binomial with p = .05; each limit is passed by chance below 1e-6.
    assert missed <= stats.binom.isf(1e-7, 3 * RUNS, 0.05)
    assert averages <= stats.binom.isf(1e-7, 6 * RUNS, 0.05)
    assert any_missed <= stats.binom.isf(1e-7, RUNS, 0.05)
    if effect:
        assert rejected == RUNS
    else:
        assert rejected <= stats.binom.isf(1e-7, RUNS, 0.05)


def test_standard_error_is_the_spread_of_estimates() -> None:
    exact = outcome.from_frame(log(3_000, seed=7), **COLUMNS, bins=[0.3, 0.6])
    without = outcome.test(released(exact), binary=True).effects[0]
    noisy = [
        outcome.test(released(exact, _law(0.3), seed), binary=True).effects[0]
        for seed in range(150)
    ]
    added = np.var([each.estimate for each in noisy])
    said = np.mean([each.se**2 for each in noisy]) - without.se**2
    # 150 draws give the variance to some 15 %; what is said is on the safe side of it.
    assert 0.8 < said / added < 2.5


def test_bins_that_noise_drowns_are_undefined_not_raised() -> None:
    exact = outcome.from_frame(log(300, seed=8), **COLUMNS, bins=EDGES)
    for seed in range(20):
        found = outcome.test(released(exact, _law(0.2), seed), binary=True)
        for each in found.effects:
            assert each.defined == np.isfinite(each.estimate)
            assert each.low <= each.high
            if not each.defined:
                assert each.why in (FEW, DROWNED, OFF_SUPPORT)
                assert (each.low >= -1, each.high <= 1) == (True, True)
        assert found.verdict(0.05) == "inconclusive"
        assert any("Undefined for" in line for line in found.words(0.05))


def test_a_group_that_is_not_there_gives_bounds_of_one_side_or_none() -> None:
    table = log(2_000, seed=9)
    scores = np.array(table["score"])
    keep = ~((np.array(table["group"].to_pylist()) == "b") & (scores < 0.3))
    found = run_test(table.filter(keep), bins=EDGES)
    first = found.effects[0]
    assert first.off_support
    nobody = next(each for each in found.marginals if each.group == "b" and each.bin == 0)
    assert (nobody.kind, nobody.low, nobody.high) == ("undefined", 0, 1)
    assert found.verdict(0.4) == "fair"  # among those who can be compared


def test_noisy_counts_near_zero_still_bound_the_average() -> None:
    sums = np.zeros((2, 1, 6))
    sums[0, 0] = 40, -40, 0, 13, 0, 40  # nobody of forty succeeded
    sums[1, 0] = -3, 2, 1, 0, 0, 1
    moments = outcome.OutcomeMoments(("a", "b"), (0.0, 1.0), (0.0, 1.0), sums, 1, _law(1.0), UNITS)
    forty, nobody = outcome.test(moments, binary=True).marginals
    assert forty.kind == "at most"
    assert 0.1 < forty.high < 0.6
    assert nobody.kind == "undefined"
    assert np.isnan(nobody.mean)


@pytest.mark.parametrize(("ones", "rows"), [(0, 12), (3, 40), (250, 500)])
def test_average_without_noise_is_wilsons_interval(ones: int, rows: int) -> None:
    sums = np.zeros((2, 1, 6))
    sums[:, 0] = rows, 2 * ones - rows, 0, rows / 3, 0, rows
    moments = outcome.OutcomeMoments(("a", "b"), (0.0, 1.0), (0.0, 1.0), sums)
    found = outcome.test(moments, binary=True, delta=0.05).marginals[0]
    z = two_sided_quantile(0.05, rows - 1, 0)
    low, high = proportion.proportion_confint(ones, rows, 2 * stats.norm.sf(z), "wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("level", [0.05, 0.01, 1e-3, 1e-4])
def test_quantile_covers_a_lone_laplace_noise(level: float) -> None:
    # A Laplace variable of standard deviation one exceeds q with probability exp(-√2 q).
    assert two_sided_quantile(level, 1e9, 3.0) >= -np.log(level) / np.sqrt(2)
    assert two_sided_quantile(level, 1e9, 0.0) == pytest.approx(stats.norm.isf(level / 2), rel=1e-6)


def test_p_value_inverts_the_quantile() -> None:
    for level in (0.5, 0.05, 1e-4):
        assert p_value(two_sided_quantile(level, 30, 1.5), 30, 1.5) == pytest.approx(level)
    assert p_value(0.0, 30, 0.0) == 1.0
    assert wald_tail(stats.chi2.isf(0.03, 7), 7, 0.0) == pytest.approx(0.03)
    # Four squares of Laplace variables have the variance 4·(2 + 3): heavier than χ².
    squares = np.random.default_rng(0).laplace(0, 2**-0.5, (400_000, 4)) ** 2
    true = np.quantile(squares.sum(axis=1), 0.95)
    assert 0.03 < wald_tail(float(true), 4, 12.0) < 0.08
