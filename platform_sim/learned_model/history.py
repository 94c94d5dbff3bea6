"""History of the platform: shown content, its viewers, times and clicks.

Exposure is not random: an earlier recommender showed people what suited them, active people more
often. Clicks follow people's tastes, work and neighbourhood. No group appears in either.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platform_sim.content.catalogue import Piece
from platform_sim.draws.randomness import stream
from platform_sim.people.interests import TOPICS, TRADES, Interests
from platform_sim.people.occupations import WorkHistory
from platform_sim.people.places import Homes

_VIEWS = 200
_CANDIDATES = 3 * _VIEWS

_BASE = {"job": -1.6, "housing": -1.2, "credit": -1.6, "news": -0.6, "political": -0.9}
_COMPUTER = {"job": 0.5, "housing": 0.3, "credit": 0.2, "news": -0.3, "political": -0.2}
# Hours with the most clicks on each kind, and the increase over the average.
_BEST_HOUR = {"job": 11, "housing": 19, "credit": 15, "news": 7, "political": 21}
_HOUR_SWING = 0.5
_WEALTH = {"job": 0.0, "housing": 0.4, "credit": -0.4, "news": 0.0, "political": 0.0}
_IMAGE = 0.25


@dataclass(frozen=True)
class History:
    """History of views: one row per piece of the catalogue, one column per view of it."""

    viewers: NDArray[np.int64]
    hours: NDArray[np.float64]
    computers: NDArray[np.bool_]
    clicked: NDArray[np.bool_]


def make_history(
    seed: int, catalogue: tuple[Piece, ...], interests: Interests, work: WorkHistory, homes: Homes
) -> History:
    appeals = _Appeals(interests, work, homes)
    viewers = _exposed(seed, catalogue, appeals)
    rng = stream(seed, "moments")
    hours = rng.integers(0, 24, viewers.shape).astype(np.float64)
    computers = rng.random(viewers.shape) < 0.4
    rows = range(len(catalogue))
    leaning = np.stack([appeals.log_odds(catalogue[row], viewers[row]) for row in rows])
    leaning += np.stack([_now(catalogue[row], hours[row], computers[row]) for row in rows])
    chances = 1 / (1 + np.exp(-leaning))
    return History(viewers, hours, computers, stream(seed, "clicks").random(hours.shape) < chances)


@dataclass(frozen=True)
class _Appeals:
    """Appeal of content to people, in log-odds of a click: the truth that the model learns."""

    interests: Interests
    work: WorkHistory
    homes: Homes

    def log_odds(self, piece: Piece, persons: NDArray[np.int64]) -> NDArray[np.float64]:
        kind = piece.content["kind"]
        appeal = _BASE[kind] + 0.9 * self.interests.tastes[persons, TOPICS.index(piece.topic)]
        appeal += _WEALTH[kind] * self.homes.neighbourhood[persons, 0]
        if kind == "job":
            trained = self.work.occupation[persons] == TRADES.index(piece.topic)
            appeal += trained * 0.2 * np.log1p(self.work.years[persons])
        return np.asarray(appeal, np.float64)


def _now(
    piece: Piece, hours: NDArray[np.float64], computers: NDArray[np.bool_]
) -> NDArray[np.float64]:
    kind = piece.content["kind"]
    swing = _HOUR_SWING * np.cos((hours - _BEST_HOUR[kind]) * (2 * np.pi / 24))
    return swing + _COMPUTER[kind] * computers + _IMAGE * (piece.content["image"] is not None)


def _exposed(seed: int, catalogue: tuple[Piece, ...], appeals: _Appeals) -> NDArray[np.int64]:
    """Return, among some online people, those to whom a piece appeals most, with noise."""
    rng = stream(seed, "exposure")
    online = np.cumsum(np.exp(0.7 * appeals.interests.activity.astype(np.float64)))
    shown = []
    for piece in catalogue:
        candidates = np.searchsorted(online, rng.random(_CANDIDATES) * online[-1])
        fits = 0.5 * appeals.log_odds(piece, candidates) + rng.gumbel(size=_CANDIDATES)
        shown.append(candidates[np.argsort(-fits)[:_VIEWS]])
    return np.stack(shown)
