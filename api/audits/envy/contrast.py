"""Evidence that an arm is better than the baseline, up to a margin, from all that was seen of both.

One test of the two means together is sharper than two intervals side by side: their errors add up
as squares do. Which bets to look at may depend on the data, since `bets.prices` pays for all pairs.

That the baseline is better than an arm is the same question of rewards 1 - x (`mirrored`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from api.audits.envy import bets
from api.audits.envy.bets import Floats, Ints

Bools = NDArray[np.bool_]
_LEAST, _TINY = 1e-3, 1e-9


@dataclass(frozen=True)
class Side:
    """Arms, or a baseline beside each: pulls, means, variances, and the growth of their bets.

    Bets on arms are up, of TILTS; bets on the baseline down, of FINE_TILTS.
    """

    pulls: Ints
    means: Floats
    variances: Floats
    grown: Floats


def variance(pulls: Ints, sums: Floats, squares: Floats) -> Floats:
    """An estimate that begins at 1/4 and is never 0. It steers; no bound rests on it."""
    seen = np.maximum(squares - sums**2 / np.maximum(pulls, 1), 0.0)
    return np.asarray((0.25 + seen) / (pulls + 1))


def mirrored(side: Side, tilts: Floats) -> Side:
    """The same of rewards 1 - x, where `side.grown` has the growth of the opposite bets on x."""
    # ln(1 + A(1 - x)) = λ + ln(1 - (1 - e^{-λ}) x) with λ = ln(1 + A), of either sign
    grown = side.grown + side.pulls[..., None] * tilts
    return Side(side.pulls, 1 - side.means, side.variances, grown)


def evidence(arms: Side, baseline: Side, margin: float, asked: Bools) -> Floats:
    """ln of the evidence that μ_arm + margin > μ_baseline, for those asked; -∞ for none."""
    lead = arms.means + margin - baseline.means
    at = np.nonzero(asked & (arms.pulls > 0) & (baseline.pulls > 0) & (lead > 0))
    arm, base = (_at(side, at) for side in (arms, baseline))
    denied = np.maximum(arm.means - _fall(arm, base, lead[at]), 0.0)
    found = np.full(lead.shape, -np.inf)
    found[at] = np.max(
        [_capital(arm, base, denied, margin, up) for up in _wishes(arm, denied)], axis=0
    )
    return found


def _at(side: Side, at: tuple[Ints, ...]) -> Side:
    return Side(side.pulls[at], side.means[at], side.variances[at], side.grown[at])


def _capital(arm: Side, base: Side, denied: Floats, margin: float, up: Ints) -> Floats:
    """ln of the least capital of a bet on the arm and its match on the baseline, less the price."""
    # To deny the lead elsewhere must not be easier: f_0 N_0 = f_k N_k
    share = bets.UP[up] / (1 + denied * bets.UP[up]) * arm.pulls / base.pulls
    down = bets.nearest_fine(_tilt(share, 1 - denied - margin), up)
    every = np.arange(len(up))
    grown = arm.grown[every, up] + base.grown[every, down]
    stakes = bets.UP[up], bets.FINE_DOWN[down]
    least = bets.least_capital(grown, (arm.pulls, base.pulls), stakes, margin)
    return np.asarray(least - bets.prices(up, down))


def _fall(arm: Side, base: Side, lead: Floats) -> Floats:
    """How far below its mean the arm is in the likeliest pair of means that denies the lead."""
    # First as if both varied alike, then weighted by their precision around that.
    fall = lead * base.pulls / (arm.pulls + base.pulls)
    noise = (arm.variances + fall**2) / arm.pulls
    other = (base.variances + (lead - fall) ** 2) / base.pulls
    return np.asarray(lead * noise / (noise + other))


def _wishes(arm: Side, denied: Floats) -> tuple[Ints, Ints, Ints]:
    """The bets that gain most against a lower mean b: of coins; of any rewards, or a bolder one."""
    above, mean = arm.means - denied, np.clip(denied, _LEAST, 1 - _LEAST)
    # f = g/(b(1 - b)) of the capital for coins, g/(v + g²) to second order; g is the distance
    coin = bets.nearest(_tilt(above / (mean * (1 - mean)), denied))
    any_kind = bets.nearest(_tilt(above / (arm.variances + above**2), denied))
    return coin, any_kind, np.maximum(any_kind - 1, 0)


def _tilt(share: Floats, mean: Floats) -> Floats:
    """ln(1 + A) of the bet that stakes a share f of the capital: A = f/(1 - f·mean)."""
    likely = np.clip(mean, 0.0, 1.0)
    kept = np.maximum(1 - share * likely, _LEAST)
    return np.asarray(np.log((1 + _TINY + share * (1 - likely)) / kept))
