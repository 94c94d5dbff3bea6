"""The advantage of an adversary who guesses one person's presence, and epsilon's bound of it.

For an event of probabilities p and q under the two neighbours, p ≤ e^ε q and 1 − q ≤ e^ε (1 − p).
Adding them, p − q ≤ (e^ε − 1) / (e^ε + 1): no test of membership has a larger advantage.
"""

import math

import numpy as np

from tests.privacy_audit.estimate import Samples

# An empirical distribution of n samples is off by more than sqrt(ln(2/p) / 2n) somewhere with
# probability at most p (Dvoretzky, Kiefer, Wolfowitz; Massart): once per side, so 1e-7 per test.
_ALARM = 5e-8


def allowed(epsilon: float) -> float:
    return math.expm1(epsilon) / (math.exp(epsilon) + 1)


def allowed_by_rho(rho: float) -> float:
    """By Pinsker: a total variation of at most sqrt(KL / 2), and under rho-zCDP KL ≤ rho."""
    return math.sqrt(rho / 2)


def advantage(one: Samples, other: Samples) -> float:
    """The best threshold's rate of true positives less its rate of false ones, either way."""
    cuts = np.unique(np.concatenate([one, other]))
    rates = [np.searchsorted(np.sort(side), cuts) / len(side) for side in (one, other)]
    return float(np.abs(rates[0] - rates[1]).max())


def margin(runs: int) -> float:
    """Return the error bound of the measured advantage, which fails with probability 1e-7."""
    return 2 * math.sqrt(math.log(2 / _ALARM) / (2 * runs))
