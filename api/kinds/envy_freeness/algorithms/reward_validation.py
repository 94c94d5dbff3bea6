"""Validation of an adapter's rewards: each in [0, 1], and one for every step.

A reward outside [0, 1] is clipped. A reward that is not a number counts as 0, no satisfaction, for
the baseline and for arms alike. None is skipped, because its step was taken by a person. So a
utility is the mean of rewards as they are counted here, and the promise is about that mean. The
number of corrected rewards is for the operator's metrics; an auditor never sees it.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def replace_invalid_rewards(rewards: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the rewards that count, and which of them were corrected."""
    came = np.asarray(rewards, np.float64)
    bad = ~((came >= 0) & (came <= 1))
    if not bad.any():
        return came, bad
    return np.clip(np.where(np.isnan(came), 0.0, came), 0.0, 1.0), bad


def replace_invalid_reward(reward: float) -> float:
    """Return the same for one reward."""
    if 0 <= reward <= 1:
        return float(reward)
    return 0.0 if math.isnan(reward) else min(max(float(reward), 0.0), 1.0)
