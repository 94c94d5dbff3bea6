"""Forecasts of verdicts: the quick judgement against the interval itself."""

import math

import numpy as np
import pytest
from scipy import stats

from auditor_client.fairness.gap import Criterion
from auditor_client.planning.fast_power import estimate_power
from auditor_client.planning.inverse import power_at
from auditor_client.planning.power_simulation import (
    AuditDesign,
    Outcome,
    SizeKind,
    has_verdict,
    simulate_release,
)
from auditor_client.planning.root_finding import find_least, find_people
from auditor_client.planning.sample_size import verdict_size
from auditor_client.stats.difference_tail import Count, tail_upper_bound
from auditor_client.stats.noise import AnyNoise, Gaussian, MomentBoundNoise, variance
from auditor_client.stats.saddlepoint import CountPairs
from bench.planning import agreement


@pytest.mark.parametrize("verdict", ["fair", "unfair"])
@pytest.mark.parametrize(
    ("sizes", "people", "bins", "rate", "groups"),
    [
        ("known", 150, 100, 1.0, 2),
        ("known", 150, 5, 0.3, 3),
        ("noisy", 250, 20, 1.0, 2),
        ("estimated", 250, 10, 1.0, 2),
        ("noisy", 100, 4, math.inf, 2),
    ],
)
def test_forecasts_judge_releases_as_the_interval_does(
    sizes: SizeKind, people: int, bins: int, rate: float, groups: int, verdict: Outcome
) -> None:
    design = AuditDesign(0.2, 0.05, groups, bins, rate, sizes, rate / 4)
    # The same releases, seeds fixed: nothing here is left to chance.
    assert agreement(design, people, verdict, 25)[2] >= 0.92


@pytest.mark.parametrize("verdict", ["fair", "unfair"])
@pytest.mark.parametrize(("sizes", "people"), [("known", 150), ("noisy", 230)])
def test_forecasts_judge_gaussian_releases_as_the_interval_does(
    sizes: SizeKind, people: int, verdict: Outcome
) -> None:
    design = AuditDesign(0.2, 0.05, 2, 20, Gaussian(2.0), sizes, Gaussian(32.0))
    assert agreement(design, people, verdict, 25)[2] >= 0.92


@pytest.mark.parametrize("verdict", ["fair", "unfair"])
@pytest.mark.parametrize(
    ("criterion", "sizes", "people", "ratios"),
    [
        ("distribution", "known", 120, ()),
        ("distribution", "noisy", 150, ()),
        ("distribution", "known", 80, (1.0, 5.0)),
        ("four-fifths", "known", 1200, ()),
        ("four-fifths", "noisy", 1500, (2.0, 1.0)),
    ],
)
def test_forecasts_judge_thresholds_and_ratios_as_the_analysis_does(
    criterion: Criterion,
    sizes: SizeKind,
    people: int,
    ratios: tuple[float, ...],
    verdict: Outcome,
) -> None:
    design = AuditDesign(
        0.2, 0.05, 2, 8, 1.0, sizes, 0.25, criterion=criterion, ratios=ratios
    )  # fmt: skip
    # The same releases, seeds fixed: nothing here is left to chance.
    assert agreement(design, people, verdict, 12)[2] >= 0.8


def test_groups_of_unequal_size_are_forecast_by_their_own_sizes() -> None:
    small, both = power_at(80, 0.0, bins=12), power_at([80, 400], 0.0, bins=12)
    assert small.fair < both.fair < power_at(400, 0.0, bins=12).fair
    assert verdict_size(0.2, bins=12, ratios=(1, 5)) < verdict_size(0.2, bins=12)
    turned = verdict_size(0.2, bins=12, ratios=(5, 1))
    # The same question with other random numbers
    assert turned == pytest.approx(verdict_size(0.2, bins=12, ratios=(1, 5)), rel=0.05)
    with pytest.raises(ValueError, match="ratios"):
        verdict_size(0.2, bins=12, ratios=(1, 2, 3))


def test_there_is_no_forecast_for_noise_of_which_moments_alone_are_known() -> None:
    one = np.ones(1)
    with pytest.raises(TypeError, match="MomentBoundNoise"):
        CountPairs(one, one, 9 * one, 9 * one, one, MomentBoundNoise(Gaussian(1.0))).log_tail(
            one / 2, one / 2
        )


@pytest.mark.parametrize("rate", [0.1, 1.0, Gaussian(2.0), math.inf])
@pytest.mark.parametrize("others", [120, 180])
def test_saddlepoint_tails_are_near_exact_ones(others: int, rate: AnyNoise) -> None:
    people, p, q = 120, np.array([0.05, 0.3, 0.5]), np.array([0.1, 0.2, 0.7])
    ratio = people / others
    spread = np.sqrt(people * p * (1 - p) + ratio**2 * others * q * (1 - q))
    spread = np.hypot(spread, math.sqrt((1 + ratio**2) * variance(rate)))
    for below in (1.7, 2.5):
        first = np.round(people * p - below * spread)
        second = np.round(others * q)
        shape = np.ones_like(p)
        pairs = CountPairs(first, second, people * shape, others * shape, ratio * shape, rate)
        exact = [
            tail_upper_bound(
                Count(int(f), people, rate), Count(int(s), others, rate), ratio, a[None], b[None]
            )[0]
            for f, s, a, b in zip(first, second, p, q, strict=True)
        ]
        # Without a common step of both counts nothing is corrected for whole numbers.
        near = 0.08 if ratio == 1 else 0.2
        assert np.exp(pairs.log_tail(p, q)) == pytest.approx(exact, rel=near)


def test_power_grows_with_people_and_with_epsilon() -> None:
    design = AuditDesign(0.2, 0.05, 2, 10, 1.0, "known", 0.25)
    assert estimate_power(design, 100, 0.0, "fair") < estimate_power(design, 200, 0.0, "fair")
    noisier = AuditDesign(0.2, 0.05, 2, 10, 0.1, "known", 0.25)
    assert estimate_power(noisier, 200, 0.0, "fair") < estimate_power(design, 200, 0.0, "fair")


def test_forecast_power_is_that_of_fresh_simulated_audits() -> None:
    design = AuditDesign(0.3, 0.05, 2, 5, 1.0, "known", 0.25)
    forecast, runs = estimate_power(design, 70, 0.0, "fair"), 60
    found = sum(
        has_verdict(design, simulate_release(design, 70, 0.0, seed), "fair") for seed in range(runs)
    )
    # Both are shares, of 600 and of 60 audits; six deviations of the difference: below 1e-6.
    spread = math.sqrt(forecast * (1 - forecast) * (1 / runs + 1 / 600))
    assert abs(found / runs - forecast) < 6 * spread


@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("guess", [20, 150, 4000])
def test_people_are_found_from_any_start(wanted: float, guess: int) -> None:
    def power_of(people: int) -> float:
        return float(stats.norm.cdf(0.25 * math.sqrt(people) - 2.5))

    exact = ((2.5 + stats.norm.ppf(wanted)) / 0.25) ** 2
    assert find_people(power_of, wanted, guess) == pytest.approx(exact, rel=0.03)


def test_what_needs_everybody_is_refused() -> None:
    with pytest.raises(ValueError, match="10,000,000"):
        find_people(lambda people: 0.0, 0.8, 1000)


def test_the_least_enough_is_found_or_said_to_be_none() -> None:
    for guess in (0.001, 0.29, 0.31, 5.0):
        assert find_least(lambda x: x >= 0.3, 0.01, 1.0, guess) == pytest.approx(0.3, rel=0.011)
        assert find_least(lambda x: True, 0.01, 1.0, guess) == 0.01
        assert find_least(lambda x: False, 0.01, 1.0, guess) is None


@pytest.mark.parametrize("bins", [1, 2, 3, 20])
def test_a_shape_keeps_the_gap(bins: int) -> None:
    shape = tuple(np.arange(1, bins + 1) / np.arange(1, bins + 1).sum())
    design = AuditDesign(0.2, 0.05, 3, bins, 1.0, "known", 0.25, shape=shape)
    gap = 0.4 if bins > 1 else 0.0
    shares = design.shares(gap)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (shares.max(axis=0) - shares.min(axis=0)).max() == pytest.approx(gap)
