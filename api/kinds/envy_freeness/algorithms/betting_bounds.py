"""Tight bounds for rewards in [0, 1]: the means that the capital of mixtures of fixed bets refutes.

Bet A > -1 on rewards x of mean μ. The capital Π (1 + A x)/(1 + A μ) is a nonnegative martingale
that starts at 1, whichever arm is pulled when, because E[1 + A x] = 1 + A μ. So is a mixture of
bets whose weights add up to one. Capital of 1/δ at any time refutes μ at level δ (Ville's
inequality). Nothing is assumed of the rewards but their range. For rewards that vary little, large
bets gain much. Proofs are in docs/explanation/envy.md.

[WR24] Waudby-Smith, Ramdas, Estimating means of bounded random variables by betting, JRSS B 86(1),
  2024 (confidence sequences from capital processes).
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# λ = ln(1 + A) of bets that the mean is higher; bets that it is lower have -λ.
TILTS: Floats = np.exp2(np.arange(2, -10, -1))
UP, DOWN = np.expm1(TILTS), np.expm1(-TILTS)
BETS = len(TILTS)
# ln of the weights. Arms are decided by few pulls and need large bets; the baseline has many pulls.
ARM_WEIGHTS = np.log(np.sqrt(TILTS) / np.sqrt(TILTS).sum())
BASELINE_WEIGHTS = np.full(BETS, -np.log(BETS))


def capital(weights: Floats, grown: Floats, n: Ints, stakes: Floats, means: Floats) -> Floats:
    """Return ln of the capital against each mean, after n rewards on which each bet has grown.

    `grown` is Σ ln(1 + A x). Arrays are broadcast; the bets are the last axis.
    """
    each = weights + grown - n[..., None] * np.log1p(means[..., None] * stakes)
    return np.asarray(np.logaddexp.reduce(each, axis=-1))
