"""The rules err as rarely as they say: by independent sums, by known laws and by simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from auditor_client.envy import EverybodyRule, SampleRule, sample_rule
from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Laplace
from tests.refusals import refuses


def test_lower_tails_without_replacement_are_below_the_binomial_ones() -> None:
    # What docs/explanation/envy.md takes from the literature, for every population of up to 24
    # people.
    for people in range(2, 25):
        drawn, envious, k = np.ogrid[1 : people + 1, 1 : people + 1, 0 : people + 1]
        share = envious / people
        without = stats.hypergeom.cdf(k, people, envious, drawn)
        far = k <= drawn * share - 1 + 1e-9
        assert (without <= stats.binom.cdf(k, drawn, share) + 1e-12)[far].all()


@pytest.mark.parametrize(("targets", "epsilon"), [(73, 1.0), (130, 0.5)])
def test_the_error_is_that_of_an_independent_sum(targets: int, epsilon: float) -> None:
    rule = sample_rule(targets, noise=epsilon)
    count, mean = rule.certify_up_to, targets * 0.1
    z = np.arange(-200, 201)
    masses = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(z))
    tails = np.where(count - z <= mean - 1, stats.binom.cdf(count - z, targets, 0.1), 1.0)
    assert rule.wrong_up_to(count) == pytest.approx(masses @ tails, rel=1e-6)
    assert rule.wrong_up_to(count) <= rule.left < rule.wrong_up_to(count + 1)


@pytest.mark.parametrize("people", [80, 200, 100_000])
def test_a_platform_with_too_much_envy_is_hardly_ever_certified(people: int) -> None:
    rng, trials = np.random.default_rng(people), 40_000
    rule = sample_rule(73, noise=1.0)
    envious = math.floor(people * rule.lam) + 1
    among = rng.hypergeometric(envious, people - envious, rule.targets, trials)
    missed = rng.binomial(among, (1 - rule.gamma) ** rule.arms + rule.level)
    noisy = among - missed + Laplace(1.0).simulated(rng, trials)
    wrong = (noisy <= rule.certify_up_to).mean()
    # Above delta by 5 deviations of chance: fails falsely less than once in a million.
    assert wrong <= rule.delta + 5 * math.sqrt(rule.delta / trials)


def test_where_all_take_part_missing_people_are_no_certificate() -> None:
    # 60 of 73 places are filled, 7 of these people envy: at least 20 are uncertified.
    rule = sample_rule(73, noise=1.0)
    assert rule.certify_up_to < 73 - 60 + 7
    assert rule.chance(13 / 73) < 1e-3


def test_nobody_in_envy_is_hardly_ever_called_envy() -> None:
    rng, trials = np.random.default_rng(1), 100_000
    rule = sample_rule(73, noise=1.0)
    wrong_verdicts = rng.binomial(rule.targets, rule.level, trials)
    noisy = wrong_verdicts + Laplace(1.0).simulated(rng, trials)
    assert (noisy >= rule.envy_from).mean() <= rule.delta
    assert rule.envious_at_least(rule.envy_from) == 1
    assert rule.envious_at_least(rule.envy_from - 1) == 0
    assert rule.envious_at_least(10**6) == 73


def test_without_noise_the_rule_is_that_of_the_paper() -> None:
    rule = sample_rule(41)
    assert (rule.arms, rule.certify_up_to, rule.envy_from) == (75, 0, 1)
    assert rule.level == pytest.approx(0.05 / 123)
    assert rule.chance() == 1.0
    # (1 - λ)^m = what is left
    assert rule.share_at_most(0) == pytest.approx(1 - rule.left ** (1 / 41), abs=1e-9)


def test_the_share_is_at_most_what_the_certificate_was_for() -> None:
    rule = sample_rule(130, noise=0.5)
    count = rule.certify_up_to
    assert rule.share_at_most(count) <= 0.1 < rule.share_at_most(count + 1)
    assert rule.share_at_most(130) > 0.99


def test_the_limit_of_the_share_covers() -> None:
    rng, trials = np.random.default_rng(3), 4000
    rule, share = sample_rule(130, noise=0.5), 0.04
    noisy = rng.binomial(130, share, trials) + Laplace(0.5).simulated(rng, trials)
    limits = {count: rule.share_at_most(int(count)) for count in np.unique(noisy)}
    missed = np.mean([limits[count] < share for count in noisy])
    # Five deviations above what is left of delta.
    assert missed <= rule.left + 5 * math.sqrt(rule.left / trials)


def everybody_rule(people: int, noise: float = math.inf) -> EverybodyRule:
    """By the exact criterion, which receipts of earlier versions have; half of delta is noise's."""
    return EverybodyRule(people, people - 1, 0.025 / people, 0.05, noise, noise)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_nobody_beats_the_odds_of_privacy(epsilon: float) -> None:
    # P(certified | nobody envies) <= e^epsilon P(certified | one does) <= e^epsilon delta
    rule = everybody_rule(200, noise=epsilon)
    assert rule.wrong_up_to(rule.certify_up_to) <= rule.left
    assert rule.chance() <= math.exp(epsilon) * rule.left


def test_everybody_without_noise_and_with_little() -> None:
    assert everybody_rule(200).certify_up_to == 0
    assert everybody_rule(200).people_at_most(3) == 3
    loud = everybody_rule(200, noise=1.0)
    # P(Z >= 4) = e^-4 / (1 + e^-1) <= .025 < P(Z >= 3)
    assert (loud.certify_up_to, loud.people_at_most(0)) == (-3, 3)
    assert everybody_rule(200, noise=4.0).chance() > 0.98


def test_what_leaves_nothing_is_refused() -> None:
    with refuses(InputError, "nothing-left-of-delta", "delta 0.05"):
        EverybodyRule(10, 9, 0.01, 0.05)
    with refuses(InputError, "nothing-left-of-delta", "delta 0.05"):
        SampleRule(41, 10, 1e-6, 0.05)
    with pytest.raises(InputError, match=r"\blam\b.*\b1\.0\b"):
        SampleRule(41, 75, 1e-6, 0.05, lam=1.0)
    with pytest.raises(InputError, match=r"\bdelta\b.*\b0\.5\b"):
        SampleRule(41, 75, 1e-6, 0.5)
    with refuses(InputError, "few-targets-or-arms"):
        EverybodyRule(1, 0, 1e-6, 0.05)


def test_arms_that_may_withdraw_are_counted_as_missed() -> None:
    """With the fewest arms none may withdraw; with 118 arms, two may."""
    fewest = sample_rule(41)
    assert fewest.arms == 75
    assert fewest.left == pytest.approx(0.05 * 2 / 3 - 41 * 0.9**75)
    more = replace(fewest, arms=118)
    assert more.left == pytest.approx(0.05 * 2 / 3 - 41 * stats.binom.cdf(2, 118, 0.1))
