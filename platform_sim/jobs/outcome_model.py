"""The score of an opportunity: the outcome that is to be expected, learned from past ones.

A fractional logistic regression on what is seen of a pair. A model that is told people's group
learns a regression for each, and so what people of each group do; one that is not may be wrong
about a group without meaning to.
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
    """`weights[group]` of what is seen; one row only if groups are not told apart."""

    weights: Floats

    def score(self, seen: NDArray[np.float32], groups: NDArray[np.int8]) -> Floats:
        """In (0, 1), one per pair."""
        own = self.weights[groups if len(self.weights) > 1 else np.zeros(len(groups), np.int8)]
        return np.asarray(1 / (1 + np.exp(-np.einsum("ij,ij->i", seen, own))))


def learn(
    seen: NDArray[np.float32], outcomes: Floats, groups: NDArray[np.int8], number: int
) -> OutcomeModel:
    """By Newton's method; `number` of groups, 1 if the model is not told who is in which."""
    told = groups if number > 1 else np.zeros(len(groups), np.int8)
    fitted = [_fit(seen[told == group], outcomes[told == group]) for group in range(number)]
    # Rounded, so that the last bits of somebody's arithmetic do not make another model.
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
