"""The three biases of paper 1, Appendix C, against what they do to the true shares P_{a,y}."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from platform_sim import SOFTWARE_JOB, Bias, SimulatedPlatform, true_gap
from platform_sim.truth import true_shares

TWENTY = np.linspace(0, 1, 21)
BOTH = ("woman", "man")


def _with(fair: SimulatedPlatform, bias: Bias) -> SimulatedPlatform:
    return SimulatedPlatform(fair.world, bias)


def _shares(platform: SimulatedPlatform, bins: int = 20) -> NDArray[np.float64]:
    edges = np.linspace(0, 1, bins + 1)
    able = platform.world.qualified("software")
    return true_shares(platform, SOFTWARE_JOB, "gender", BOTH, edges, able)


def _gap(platform: SimulatedPlatform) -> float:
    able = platform.world.qualified("software")
    return true_gap(platform, SOFTWARE_JOB, "gender", BOTH, TWENTY, able)


def test_additive_bias_shifts_a_group_by_bins_and_piles_up_at_the_edge(
    fair: SimulatedPlatform,
) -> None:
    before = _shares(fair)
    after = _shares(_with(fair, Bias("gender", {"woman": -0.25})))
    # P_{a,y}(R) = P_{a,y-b}(T) with b of five bins; the lowest six end up in the first.
    assert np.allclose(after[0, 1:15], before[0, 6:])
    assert np.isclose(after[0, 0], before[0, :6].sum())
    assert np.array_equal(after[1], before[1])


def test_gap_of_an_additive_bias_is_that_of_shifted_shares(fair: SimulatedPlatform) -> None:
    before = _shares(fair)
    shifted = np.concatenate([[before[0, :6].sum()], before[0, 6:], np.zeros(5)])
    biased = _with(fair, Bias("gender", {"woman": -0.25}))
    assert np.isclose(_gap(biased), np.abs(shifted - before[1]).max())
    assert _gap(biased) > _gap(fair) + 0.1


def test_multiplicative_bias_squeezes_a_group(fair: SimulatedPlatform) -> None:
    halved = _shares(_with(fair, Bias("gender", {"woman": 0.5}, "multiplicative")))
    # P_{a,y}(R) = P_{a,y/b}(T): at b = 1/2, a bin of R is two bins of T.
    assert np.allclose(halved[0, :10], _shares(fair, bins=10)[0])
    assert np.array_equal(halved[1], _shares(fair)[1])


def test_random_bias_mixes_a_group_with_its_shift(fair: SimulatedPlatform) -> None:
    before = _shares(fair)[0]
    mixed = _shares(_with(fair, Bias("gender", {"woman": -0.25}, "random")))[0]
    shifted = np.concatenate([[before[:6].sum()], before[6:], np.zeros(5)])
    # P_{a,y}(R) = Σ_b P[B_a = b] P_{a,y-b}(T), B_a a fair coin for each of some 2,000 women.
    # Hoeffding over 20 bins: 40 exp(-2·2000·.07²) = 1.2e-7.
    assert np.abs(mixed - (before + shifted) / 2).max() < 0.07


def test_a_persons_random_bias_is_the_same_in_every_audit(
    fair: SimulatedPlatform, noon: Mapping[str, str | float]
) -> None:
    tossed = _with(fair, Bias("gender", {"woman": -0.25}, "random"))
    people = np.arange(500)
    scores = tossed.score(SOFTWARE_JOB, people, noon)
    assert np.array_equal(tossed.score(SOFTWARE_JOB, people[::-1], noon)[::-1], scores)


def test_bias_may_spare_other_kinds_of_content(
    fair: SimulatedPlatform, noon: Mapping[str, str | float]
) -> None:
    biased = _with(fair, Bias("gender", {"woman": -0.25}, content_kind="job"))
    people = np.arange(500)
    news = {**SOFTWARE_JOB, "kind": "news"}
    assert np.array_equal(biased.score(news, people, noon), fair.score(news, people, noon))
    assert not np.array_equal(
        biased.score(SOFTWARE_JOB, people, noon), fair.score(SOFTWARE_JOB, people, noon)
    )


@pytest.mark.parametrize("amount", [-5.0, 5.0])
def test_biased_scores_stay_in_the_range(
    fair: SimulatedPlatform, noon: Mapping[str, str | float], amount: float
) -> None:
    scores = _with(fair, Bias("race", {"white": amount})).score(SOFTWARE_JOB, np.arange(999), noon)
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert (scores == (amount > 0)).any()


def test_bias_against_nobody_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\bgender\b.*\bwizard\b"):
        Bias("gender", {"wizard": 1.0})
