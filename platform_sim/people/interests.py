"""Tastes and activity of people, and the part that the platform has noticed.

Tastes are latent: they determine what people click, and the model does not see them. The model sees
the tastes that the platform noticed, which are more exact for active people. Work and politics
shape tastes in every world; gender, race and age do so in proportion to `correlation`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.people.demographics import Demographics
from platform_sim.people.occupations import WorkHistory

TOPICS = (
    *("technology", "health", "commerce", "education", "finance", "building"),
    *("homes", "sport", "culture", "left", "right"),
)
# The topic of each occupation's trade, in the order of OCCUPATIONS.
TRADES = TOPICS[:6]

_TRADE_PULL = 0.8
_BY_POLITICS = {"left": (1.2, 0.0, -1.0), "right": (-1.0, 0.0, 1.2)}
_BY_GENDER = {
    "technology": (-0.35, 0.35, 0.1),
    "building": (-0.3, 0.3, 0.0),
    "sport": (-0.4, 0.4, -0.2),
    "health": (0.4, -0.4, 0.1),
    "education": (0.3, -0.3, 0.0),
    "culture": (0.3, -0.3, 0.6),
}
_BY_RACE = {
    "homes": (0.2, -0.3, -0.2, 0.1, -0.3, 0.0),
    "finance": (0.1, -0.2, -0.1, 0.3, -0.2, 0.0),
}
_BY_AGE = {
    "technology": (0.4, 0.3, 0.0, -0.2, -0.4),
    "homes": (-0.5, 0.2, 0.4, 0.1, -0.2),
    "health": (-0.3, -0.1, 0.0, 0.2, 0.5),
}
_ACTIVITY_BY_GENDER = (0.15, -0.15, 0.3)
_ACTIVITY_BY_AGE = (0.4, 0.2, 0.0, -0.2, -0.4)


@dataclass(frozen=True)
class Interests:
    """Per person: tastes by topic (latent), what is noticed of them, and log activity."""

    tastes: NDArray[np.float32]
    noticed: NDArray[np.float32]
    activity: NDArray[np.float32]


def make_interests(
    seed: int, who: Demographics, work: WorkHistory, correlation: float
) -> Interests:
    people = len(work.years)
    activity = stream(seed, "activity").standard_normal(people, np.float32)
    for codes, shifts in ((who.gender, _ACTIVITY_BY_GENDER), (who.age, _ACTIVITY_BY_AGE)):
        activity += np.float32(correlation) * np.array(shifts, np.float32)[codes]
    tastes = stream(seed, "tastes").standard_normal((people, len(TOPICS)), np.float32)
    _shape(tastes, who, work, correlation)
    noticed = stream(seed, "noticed").standard_normal(tastes.shape, np.float32)
    noticed *= (0.5 * np.exp(-0.3 * activity))[:, np.newaxis]
    noticed += tastes
    return Interests(tastes, noticed, activity)


def _shape(
    tastes: NDArray[np.float32], who: Demographics, work: WorkHistory, correlation: float
) -> None:
    """Shift tastes, in place, by the influences of work, politics and demographics."""
    tastes[np.arange(len(tastes)), work.occupation] += np.float32(_TRADE_PULL)
    pulls = (
        (who.politics, _BY_POLITICS, 1.0),
        (who.gender, _BY_GENDER, correlation),
        (who.race, _BY_RACE, correlation),
        (who.age, _BY_AGE, correlation),
    )
    for codes, shifts, strength in pulls:
        for topic, by_code in shifts.items():
            tastes[:, TOPICS.index(topic)] += np.array(by_code, np.float32)[codes] * strength
