"""Minimum number of steps before a verdict, for any rewards.

The clearest rewards are all 1 on one side and all 0 on the other. If even these cannot give a
verdict below the ceiling, the audit is refused before anybody is shown anything.
"""

import math
from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from api.kinds.envy_freeness.algorithms.batch import Bools, Floats, Ints
from api.kinds.envy_freeness.algorithms.betting_bounds import (
    ARM_WEIGHTS,
    BASELINE_WEIGHTS,
    BETS,
    DOWN,
    TILTS,
    UP,
    capital,
)
from api.kinds.envy_freeness.algorithms.paper_bounds import beta
from api.kinds.envy_freeness.algorithms.terms import Terms, TermsError, require_arms

# Shares of delta with the tight bounds: for the verdict, and for constraint (3).
VERDICT_SHARE, SAFE_SHARE = 3 / 4, 1 / 4
# Some of the means leave at least the evidence of all, so the minimum is not overestimated.
_MEANS = np.linspace(0, 1, 201)


def least_steps(terms: Terms, arms: int) -> int:
    """Return a number of steps below which no verdict is possible."""
    require_arms(arms)
    # While nothing was explored, the first pull of an arm needs αt ≥ 1   [DCAU22, equation 4]
    fewest = max(_explored(terms, arms), math.ceil(1 / terms.alpha))
    tight = terms.bounds == "tight"
    alone = _tight_alone(terms) if tight else _printed_alone(terms, arms)
    return 1 + bisect_left(range(1, fewest), x=True, key=alone)


def require_enough_steps(terms: Terms, arms: int) -> None:
    """Refuse a ceiling under which every target would end undecided."""
    if terms.ceiling is None:
        return
    fewest = least_steps(terms, arms)
    if terms.ceiling < fewest:
        raise TermsError(
            f"{terms.ceiling} steps cannot give a verdict, for any rewards: at least {fewest} are"
            " needed. Raise the ceiling, delta or alpha, or use fewer arms."
        )


def _explored(terms: Terms, arms: int) -> int:
    """Return the fewest pulls of the baseline and of arms that decide: of one to envy it, or of
    all.
    """
    decides = _tight if terms.bounds == "tight" else _printed
    size = 16
    while True:
        n = np.arange(1, size)
        envied, dropped = decides(terms, arms, n)
        steps = np.concatenate([(n[:, None] + n)[envied], (arms * n[:, None] + n)[dropped]])
        if len(steps) and steps.min() <= size:  # more pulls of either take more steps
            return int(steps.min())
        size *= 2


def _printed(terms: Terms, arms: int, n: Ints) -> tuple[Bools, Bools]:
    """Return whether n pulls of an arm and of the baseline decide, by lines 8 and 7."""
    width = beta(n, arms, terms.delta, terms.omega, terms.sigma)
    both = width[:, None] + width
    # 1 - β_k > β_0; β_k ≤ 1 - β_0 + ε
    return both < 1, both <= 1 + terms.epsilon


def _printed_alone(terms: Terms, arms: int) -> Callable[[int], bool]:
    """Return a test whether n pulls of the baseline drop arms that were never pulled."""
    # 1 ≤ 1 - β_0 + ε
    return lambda n: beta(n, arms, terms.delta, terms.omega, terms.sigma) <= terms.epsilon


def _tight(terms: Terms, arms: int, n: Ints) -> tuple[Bools, Bools]:
    """Return whether n pulls of an arm and of the baseline decide, by the evidence of both."""
    needed, margin = _needed(terms), terms.epsilon
    above = margin + (1 - margin) * _MEANS
    better = _all_ones(ARM_WEIGHTS, n, _MEANS)[:, None] + _all_zeros(BASELINE_WEIGHTS, n, _MEANS)
    worse = _all_zeros(ARM_WEIGHTS, n, above)[:, None]
    worse = worse + _all_ones(BASELINE_WEIGHTS, n, above - margin)
    return better.min(axis=-1) >= needed + math.log(arms), worse.min(axis=-1) >= needed


def _tight_alone(terms: Terms) -> Callable[[int], bool]:
    """Return a test whether n pulls of the baseline drop unpulled arms: μ_0 + ε > 1."""
    highest, needed = np.array([1 - terms.epsilon]), _needed(terms)
    return lambda n: bool(_all_ones(BASELINE_WEIGHTS, np.array([n]), highest)[0, 0] >= needed)


def _needed(terms: Terms) -> float:
    return -math.log(VERDICT_SHARE * terms.delta)


def _all_ones(weights: Floats, n: Ints, means: Floats) -> Floats:
    """Return ln of the capital of bets up, by pulls and means."""
    return capital(weights, n[:, None, None] * TILTS, n[:, None], UP, means)


def _all_zeros(weights: Floats, n: Ints, means: Floats) -> Floats:
    """Return ln of the capital of bets down, by pulls and means."""
    return capital(weights, np.zeros(BETS), n[:, None], DOWN, means)
