"""Score of an opportunity: the expected outcome, learned from past ones.

The model is a fractional logistic regression on the visible features of a pair. A model that knows
people's group learns a regression for each group. Another model may be wrong about a group
unintentionally.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 7
_RIDGE = 1.0
_DECIMALS = 6

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OutcomeModel:
    """Model with `weights[group]` of visible features; only one row if groups are not
    distinguished.
    """

    weights: Floats

    def score(self, seen: NDArray[np.float32], groups: NDArray[np.int8]) -> Floats:
        """Return scores in (0, 1), one per pair."""
        own = self.weights[groups if len(self.weights) > 1 else np.zeros(len(groups), np.int8)]
        return np.asarray(1 / (1 + np.exp(-np.einsum("ij,ij->i", seen, own))))


def learn(
    seen: NDArray[np.float32], outcomes: Floats, groups: NDArray[np.int8], number: int
) -> OutcomeModel:
    """Learn by Newton's method; `number` of groups is 1 if the model does not know groups."""
    told = groups if number > 1 else np.zeros(len(groups), np.int8)
    fitted = [_fit(seen[told == group], outcomes[told == group]) for group in range(number)]
    # Rounded, so that the last bits of a machine's arithmetic do not change the model.
    return OutcomeModel(np.asarray(np.round(np.stack(fitted), _DECIMALS), np.float64))


def _fit(seen: NDArray[np.float32], outcomes: Floats) -> Floats:
    x = seen.astype(np.float64)
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(x @ weights)))
        gradient = x.T @ (chance - outcomes) + _RIDGE * weights
        curvature = (x * (chance * (1 - chance))[:, np.newaxis]).T @ x
        weights = weights - np.linalg.solve(curvature + _RIDGE * np.eye(len(weights)), gradient)
    return np.asarray(weights)
