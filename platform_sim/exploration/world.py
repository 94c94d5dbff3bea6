"""Recommendations per person, and people's rewards from those of others.

People have one of a fixed number of tastes, whose preferences are completed from a history. Most
people get the item that suits them best. For some, the wronged, the recommender knows only what is
popular, a model of one factor. They envy well-served people with similar tastes.

It has the methods of `api.platforms.interfaces`'s Policies, without importing them.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §5.1 (envy from misspecified models).
"""

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from platform_sim.draws.randomness import draw_uniform
from platform_sim.exploration.policies import best_item_policies, softmax, utilities
from platform_sim.exploration.preferences import learn, make_preferences

Persons = NDArray[np.int64]
Floats = NDArray[np.float64]

TASTES, _ITEMS, _FACTORS = 240, 120, 16
_SHARPNESS = 2.0
_CONSENTING = 0.98
# More than the steps of any audit.
_STEPS = 1 << 21


class Exploration:
    """Recommendations for everybody; a share `wronged` of people gets bad ones."""

    def __init__(
        self, seed: int, people: int, wronged: float = 0.0, step_seconds: float = 0.0005
    ) -> None:
        self.seed, self.people, self.wronged, self._pace = seed, people, wronged, step_seconds

    @property
    def policies_digest(self) -> str:
        parts = f"{self.seed}/{self.wronged}/{TASTES}/{_ITEMS}/{_FACTORS}/{_SHARPNESS}"
        return f"sha256:{hashlib.sha256(parts.encode()).hexdigest()}"

    @property
    def step_seconds(self) -> float:
        return self._pace

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        return np.asarray(draw_uniform(self.seed, "consent", persons) < _CONSENTING)

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> Floats:
        """Return 1 if the target liked the shown item, 0 if not; repeated calls return the same."""
        chance = draw_uniform(self.seed, f"reward/{course}", targets * _STEPS + steps)
        return np.asarray(chance < self.utility(targets, arms), np.float64)

    def utility(self, targets: Persons, arms: Persons) -> Floats:
        """Return the truth: the probability that each target likes the arm's recommendation."""
        return np.asarray(self._utilities[self._tastes[targets], self._policies[arms]])

    def are_wronged(self, persons: Persons) -> NDArray[np.bool_]:
        return np.asarray(draw_uniform(self.seed, "wronged", persons) < self.wronged)

    @cached_property
    def _tastes(self) -> Persons:
        everybody = np.arange(self.people)
        return (draw_uniform(self.seed, "taste", everybody) * TASTES).astype(np.int64)

    @cached_property
    def _policies(self) -> Persons:
        return self._tastes + TASTES * self.are_wronged(np.arange(self.people))

    @cached_property
    def _utilities(self) -> Floats:
        """Return the utility for each taste of each taste's policy, served well, then badly."""
        preferences = make_preferences(self.seed, TASTES, _ITEMS, _FACTORS)
        popular = softmax(learn(self.seed, preferences, 1), _SHARPNESS)
        return utilities(preferences, np.concatenate([best_item_policies(preferences), popular]))
