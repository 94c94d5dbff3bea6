"""Tight bounds for rewards in [0, 1]: the capital of fixed bets, and what it rules out.

Bet A > -1 on rewards x of mean μ: the capital Π (1 + A x)/(1 + A μ) is a nonnegative martingale
that starts at 1, whichever arm is pulled when, because E[1 + A x] = 1 + A μ. Capital of 1/δ at any
time refutes μ at level δ (Ville's inequality). Nothing is assumed of the rewards but their range;
where they vary little, large bets gain much. The bets form a grid whose weights add up to one, so
the best may be chosen afterwards at the price of its weight.

Proofs are in docs/envy.md.

[WR24] Waudby-Smith, Ramdas, Estimating means of bounded random variables by betting, JRSS B 86(1),
    2024 (confidence sequences from capital processes).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# λ = ln(1 + A) of the bets on arms; bets that a mean is lower have -λ.
TILTS: Floats = np.exp2(np.arange(1, -7, -1))
UP, DOWN = np.expm1(TILTS), -np.expm1(-TILTS)
BETS = len(TILTS)
PRICE = np.log(BETS)

# Bets on the baseline, in quarters of a power of two: against a bet on an arm, that on the baseline
# must be smaller in the proportion of their pulls, and closely so.
FINE_TILTS: Floats = np.exp2(2 - np.arange(84) / 4)
FINE_DOWN = -np.expm1(-FINE_TILTS)
FINE_BETS = len(FINE_TILTS)
# Where the bets on arms are in the fine grid.
COARSE = np.arange(4, 4 + 4 * BETS, 4)
# The prices of proportions from 2 to 1 up to some 1 to 8000: four fifths up to 1 to 128.
REACH = FINE_BETS - COARSE[-1] + 4
RATIO_PRICES = -np.log(np.where(np.arange(REACH) < 32, 0.8 / 32, 0.2 / (REACH - 32)))


def growth(rewards: Floats, tilts: Floats) -> tuple[Floats, Floats]:
    """Σ ln(1 + A x) over the last axis, of each bet: up, and down."""
    if ((rewards == 0) | (rewards == 1)).all():
        up = rewards.sum(axis=-1)[..., None] * tilts
        return up, -up
    each = rewards[..., None]
    return np.log1p(each * np.expm1(tilts)).sum(-2), np.log1p(each * np.expm1(-tilts)).sum(-2)


def total_at_least(grown: Floats, n: Ints, level: float) -> Floats:
    """A lower limit, for all times at once, of the sum of the means behind n rewards.

    `grown`: what the bets up gained. The means may differ: ln(1 + A μ) is concave in μ.
    """
    # refuted: Σ ln(1 + A x) - n ln(1 + A m) ≥ price + ln(1/level); so m ≥ (exp(…/n) - 1)/A
    gained = (grown - PRICE + np.log(level)) / np.maximum(n, 1)[..., None]
    return np.asarray(n * np.maximum((np.expm1(gained) / UP).max(axis=-1), 0.0))


def mean_at_most(grown: Floats, n: Ints, level: float) -> Floats:
    """An upper limit, for all times at once, of the mean of n rewards; `grown`: the bets down."""
    gained = (grown - PRICE + np.log(level)) / np.maximum(n, 1)[..., None]
    return np.asarray(np.minimum((-np.expm1(gained) / DOWN).min(axis=-1), 1.0))


def least_capital(
    grown: Floats, pulls: tuple[Ints, Ints], stakes: tuple[Floats, Floats], margin: float
) -> Floats:
    """ln of the least capital under any means with μ_second ≥ μ_first + margin.

    The first's bet is up, A, the second's down, -B; `grown` is what the two gained together.
    """
    (first, second), (up, down) = pulls, stakes
    # lost(a) = N₁ ln(1 + aA) + N₂ ln(1 - (a + margin)B) is concave: its peak is where it is flat
    peak = (first * up * (1 - margin * down) - second * down) / (up * down * (first + second))
    mean = np.clip(peak, 0.0, 1.0 - margin)
    lost = first * np.log1p(mean * up) + second * np.log1p(-(mean + margin) * down)
    return np.asarray(grown - lost)


def nearest(tilts: Floats) -> Ints:
    """The place in TILTS nearest to the tilt (above 0) that one would wish for."""
    return np.asarray(np.clip(np.rint(1 - np.log2(tilts)), 0, BETS - 1), np.int64)


def nearest_fine(tilts: Floats, beside: Ints) -> Ints:
    """The place in FINE_TILTS nearest to a tilt, of those that go with a bet on an arm."""
    place = np.rint(8 - 4 * np.log2(tilts)).astype(np.int64)
    return np.asarray(np.clip(place, COARSE[beside] - 4, COARSE[beside] - 4 + REACH - 1))


def prices(arm: Ints, baseline: Ints) -> Floats:
    """ln of what it costs to choose this pair of bets after all was seen."""
    return np.asarray(PRICE + RATIO_PRICES[baseline - COARSE[arm] + 4])
