"""Differences of shares where numbers of people are private: bounds of laws, and limits."""

import numpy as np
import pytest
from scipy import stats

from auditor_client.stats.centred_difference import Event, difference_limit, lowest_law
from auditor_client.stats.noise import Gaussian, Laplace, Noise, NoNoise


@pytest.mark.parametrize("share", [0.03, 0.3, 0.5, 0.91])
@pytest.mark.parametrize("people", [(20, 20), (15, 40), (300, 340)])
def test_the_law_is_below_that_of_every_number_of_people(
    share: float, people: tuple[int, int]
) -> None:
    law = lowest_law(share, people, (1, 1), NoNoise(), 0.25)
    places = (law.start + np.arange(len(law.masses))) * law.step
    for n in range(people[0], people[1] + 1):
        true = stats.binom.cdf(np.floor(places + n * share + 1e-9), n, share)
        assert np.all(np.cumsum(law.masses) >= true - 1e-7)


@pytest.mark.parametrize("noise", [Laplace(0.7), Gaussian(3.0)])
def test_the_law_of_noisy_people_is_below_a_simulated_one(noise: Noise) -> None:
    share, n, cells = 0.4, 120, (3, 5)
    law = lowest_law(share, (110, 130), cells, noise, 0.25)
    generator = np.random.default_rng(3)
    inside, outside = (noise.simulated(generator, 20_000 * k).reshape(k, -1).sum(0) for k in cells)
    drawn = generator.binomial(n, share, 20_000) - n * share + (1 - share) * inside
    drawn = np.sort(drawn - share * outside)
    places = (law.start + np.arange(len(law.masses))) * law.step
    empirical = np.searchsorted(drawn, places, side="right") / len(drawn)
    # Dvoretzky, Kiefer and Wolfowitz: more than .021 off with probability below 1e-7.
    assert np.all(np.cumsum(law.masses) >= empirical - 0.021)


@pytest.mark.long
@pytest.mark.parametrize("people", [(20, 20), (150, 60)])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.05), (0.7, 0.3)])
def test_limits_miss_no_more_often_than_their_level(
    people: tuple[int, int], shares: tuple[float, float]
) -> None:
    runs, level, noise = 60, 0.1, Laplace(1.0)
    generator, missed = np.random.default_rng(5), 0
    for _ in range(runs):
        events = []
        for n, share in zip(people, shares, strict=True):
            inside = int(generator.binomial(n, share))
            z = noise.simulated(generator, 2)
            limits = max(n - 6, 1), n + 6
            events.append(Event(inside + int(z[0]), n - inside + int(z[1]), (1, 1), limits, noise))
        limit = difference_limit(events[0], events[1], people[0] / people[1], level)
        missed += limit < shares[0] - shares[1] - 1e-12
    # 6 cases, each by a binomial test at 1e-8.
    assert missed <= stats.binom.ppf(1 - 1e-8, runs, level)


def test_a_limit_is_near_what_a_normal_error_gives() -> None:
    events = [Event(240, 240, (10, 10), (470, 490), Laplace(1.0)) for _ in range(2)]
    # sd² = 2·(.25/480 + 5·1.84/480²), and 1.645 of it
    sd = (2 * (0.25 / 480 + 20 * Laplace(1.0).variance / 4 / 480**2)) ** 0.5
    assert 1.5 * sd < difference_limit(events[0], events[1], 1.0, 0.05) < 1.9 * sd


def test_nobody_for_certain_says_nothing() -> None:
    events = [Event(3, 4, (1, 1), (0, 9), Laplace(1.0)) for _ in range(2)]
    assert difference_limit(events[0], events[1], 1.0, 0.05) == 1.0


def test_a_floor_is_returned_where_the_limit_is_lower() -> None:
    less, more = (Event(x, 480 - x, (1, 1), (480, 480), Laplace(1.0)) for x in (100, 380))
    assert difference_limit(less, more, 1.0, 0.01, floor=0.0) == 0.0
