"""The fewest steps after which a verdict can fall, whatever the rewards: below it none is possible.

The clearest rewards are all 1 on one side and all 0 on the other. A ceiling that even they would
reach first is refused before anybody is shown anything.
"""

import math

import numpy as np

from api.audits.envy.bets import (
    BETS,
    COARSE,
    FINE_DOWN,
    REACH,
    TILTS,
    UP,
    Floats,
    Ints,
    least_capital,
    prices,
)
from api.audits.envy.printed import beta
from api.audits.envy.terms import Terms, TermsError, require_arms
from api.audits.envy.tight_fleet import VERDICT_SHARE


def least_steps(terms: Terms, arms: int) -> int:
    """No verdict can fall in fewer steps."""
    require_arms(arms)
    fewest = _tight(terms, arms) if terms.bounds == "tight" else _printed(terms, arms)
    # While nothing was explored, the first pull of an arm needs αt ≥ 1   [DCAU22, equation 4]
    return max(fewest, math.ceil(1 / terms.alpha))


def require_enough_steps(terms: Terms, arms: int) -> None:
    """Refuse a ceiling under which every target would end undecided."""
    if terms.ceiling is None:
        return
    fewest = least_steps(terms, arms)
    if terms.ceiling < fewest:
        raise TermsError(
            f"{terms.ceiling} steps cannot decide, whatever the rewards: at least {fewest} are"
            " needed. Raise the ceiling, delta or alpha, or take fewer arms"
        )


def _printed(terms: Terms, arms: int) -> int:
    size = 256
    while True:
        n = np.arange(1, size)
        width = beta(n, arms, terms.delta, terms.omega, terms.sigma)
        both = width[:, None] + width
        steps = np.concatenate(
            [
                (n[:, None] + n)[both < 1],  # line 8: 1 - β_k > β_0
                (n[:, None] + arms * n)[both <= 1 + terms.epsilon],  # line 7: β_k ≤ 1 - β_0 + ε
                n[width <= terms.epsilon],  # line 7, arms never pulled: 1 ≤ 1 - β_0 + ε
            ]
        )
        if len(steps):
            return int(steps.min())
        size *= 2


def _tight(terms: Terms, arms: int) -> int:
    level, size = -math.log(VERDICT_SHARE * terms.delta), 16
    while True:
        n = np.arange(1, size)
        first, second = n[:, None], n[None, :]
        steps = np.concatenate(
            [
                (first + second)[_clearest(n, 0.0) >= level + math.log(arms)],
                (arms * first + second)[_clearest(n, terms.epsilon) >= level],
            ]
        )
        if len(steps):
            return int(steps.min())
        size *= 2


def _clearest(n: Ints, margin: float) -> Floats:
    """ln of the evidence from so many ones and so many zeros, by the best pair of bets."""
    first, second = n[:, None, None, None], n[None, :, None, None]
    arm, baseline = np.arange(BETS)[:, None], COARSE[:, None] - 4 + np.arange(REACH)
    stakes = UP[arm], FINE_DOWN[baseline]
    capital = least_capital(first * TILTS[arm], (first, second), stakes, margin)
    return np.asarray((capital - prices(arm, baseline)).max(axis=(2, 3)))
