"""Rewards of the simulated platform's people from others' recommendations."""

import numpy as np

from platform_sim import Exploration

PEOPLE = np.arange(300)
STEPS = np.arange(300)


def envy(platform: Exploration) -> np.ndarray:
    pairs = np.repeat(PEOPLE, 300), np.tile(PEOPLE, 300)
    utilities = platform.utility(*pairs).reshape(300, 300)
    return np.asarray(utilities.max(axis=1) - np.diagonal(utilities))


def test_only_those_who_are_served_badly_envy() -> None:
    fair, unfair = Exploration(7, 300), Exploration(7, 300, wronged=0.5)
    assert envy(fair).max() == 0
    wronged = unfair.are_wronged(PEOPLE)
    assert 0.3 < wronged.mean() < 0.7
    assert envy(unfair)[~wronged].max() == 0
    assert np.median(envy(unfair)[wronged]) > 0.2
    assert fair.policies_digest != unfair.policies_digest


def test_a_step_that_is_asked_for_again_is_the_same() -> None:
    platform = Exploration(7, 300, wronged=0.5)
    arms = PEOPLE[::-1]
    first = platform.rewards("one", PEOPLE, arms, STEPS)
    assert (platform.rewards("one", PEOPLE[:9], arms[:9], STEPS[:9]) == first[:9]).all()
    assert (platform.rewards("other", PEOPLE, arms, STEPS) != first).any()
    assert set(first.tolist()) == {0.0, 1.0}


def test_rewards_are_as_likely_as_the_truth_says() -> None:
    platform = Exploration(7, 300, wronged=0.5)
    steps = np.arange(20_000)
    one, two = np.full_like(steps, 3), np.full_like(steps, 8)
    found = platform.rewards("course", one, two, steps).mean()
    # 5.5 standard errors: a false failure in less than 1e-7.
    assert abs(found - platform.utility(one[:1], two[:1])[0]) < 5.5 * 0.5 / np.sqrt(20_000)


def test_nearly_everybody_consents() -> None:
    agreed = Exploration(7, 20_000).consenting(np.arange(20_000))
    assert 0.97 < agreed.mean() < 0.99
