"""Relevance model: the probability that a person clicks a content, learned from history.

It is a logistic regression on every product of a feature of the person (or the moment) and a
feature of the content. It learns from clicks alone and knows no group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platform_sim.content.catalogue import Piece
from platform_sim.content.features import Reader
from platform_sim.content.view_context import moments
from platform_sim.learned_model.history import History
from platform_sim.learned_model.person_features import Seen

_STEPS = 100
_RIDGE = 1e-4
_PEOPLE_AT_ONCE = 65_536
_DECIMALS = 6


@dataclass(frozen=True)
class Relevance:
    """Model with weights[i, j] for the product of the person's feature i and the content's feature
    j.

    Rows are features of the person, then of the moment.
    """

    reader: Reader
    weights: NDArray[np.float64]

    def score(
        self,
        content: Mapping[str, Any],
        seen: Seen,
        persons: NDArray[np.int64],
        moment: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return scores in (0, 1), one per person; each depends only on that person and the
        moment.
        """
        effects = self.weights @ self.reader.read(content)
        scores = np.full(len(persons), effects[seen.shape[1] :] @ moment)
        for start in range(0, len(persons), _PEOPLE_AT_ONCE):
            chunk = slice(start, start + _PEOPLE_AT_ONCE)
            # Column by column and not by BLAS, so that a score never depends on other people in the
            # chunk.
            for effect, column in zip(effects, seen[persons[chunk]].T, strict=False):
                scores[chunk] += effect * column
        return _chance(scores)


def learn(catalogue: tuple[Piece, ...], history: History, seen: Seen) -> Relevance:
    """Fit to the clicks of the history."""
    reader = Reader.of(piece.content for piece in catalogue)
    read = np.stack([reader.read(piece.content) for piece in catalogue])
    when = moments(history.hours, history.computers)
    views = np.concatenate([seen[history.viewers], when], axis=2)
    # Rounded, so that the last bits of a machine's arithmetic do not change the model.
    return Relevance(reader, np.round(_descend(views, read, history.clicked), _DECIMALS))


def _descend(
    views: NDArray[np.float64], read: NDArray[np.float64], clicked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Minimise the mean logistic loss with a ridge by Nesterov's accelerated gradient."""
    weights = np.zeros((views.shape[2], read.shape[1]))
    before = weights
    step = 1 / _curvature(views, read)
    for iteration in range(_STEPS):
        ahead = weights + iteration / (iteration + 3) * (weights - before)
        before = weights
        weights = ahead - step * _gradient(ahead, views, read, clicked)
    return weights


def _gradient(
    weights: NDArray[np.float64],
    views: NDArray[np.float64],
    read: NDArray[np.float64],
    clicked: NDArray[np.bool_],
) -> NDArray[np.float64]:
    # Sums in plain loops: BLAS would split them among threads, whose waits on busy machines take
    # longer than the whole sum.
    effects = np.einsum("cj,ij->ci", read, weights)
    leaning = np.matmul(views, effects[:, :, np.newaxis])[:, :, 0]
    errors = _chance(leaning) - clicked
    pulls = np.matmul(errors[:, np.newaxis, :], views)[:, 0, :]
    return np.asarray(np.einsum("ci,cj->ij", pulls, read) / clicked.size + _RIDGE * weights)


def _chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _curvature(views: NDArray[np.float64], read: NDArray[np.float64]) -> float:
    """Return an upper bound of the largest second derivative of the loss, so that steps do not
    overshoot.
    """
    # σ' ≤ 1/4, and (xᵀVc)² ≤ |Vᵀx|²·|c|² for every direction V   [Cauchy, Schwarz]
    flat = views.reshape(-1, views.shape[2])
    people = float(np.linalg.eigvalsh(flat.T @ flat / len(flat))[-1])
    content = float((read * read).sum(axis=1).max())
    return people * content / 4 + _RIDGE
