"""Simulated platform: the capabilities of a platform, on a world.

It has the methods of `api.platforms.interfaces`'s People and Scores, without importing them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from platform_sim import samples
from platform_sim.content.view_context import CONTEXT, make_single_moment
from platform_sim.draws.randomness import draw_uniform
from platform_sim.learned_model.bias import Bias
from platform_sim.learned_model.relevance import learn
from platform_sim.world import World

Persons = NDArray[np.int64]
_VERSION = 1
_TAKING_PART = 0.8


class SimulatedPlatform:
    """People and Scores on a world, by a model learned from its history, with an optional bias."""

    def __init__(self, world: World, bias: Bias | None = None) -> None:
        self.world = world
        self.bias = bias
        self.relevance = learn(world.catalogue, world.history, world.seen)

    @classmethod
    def from_seed(
        cls, seed: int, people: int = 20_000, correlation: float = 1.0, bias: Bias | None = None
    ) -> "SimulatedPlatform":
        return cls(World(seed, people, correlation), bias)

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        """Return people by `username`, `email_sha256` or `phone_sha256`; -1 if there is nobody."""
        return self.world.directory.match(kind, identifiers)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return self._offers

    @cached_property
    def _offers(self) -> Mapping[str, Mapping[str, int]]:
        return samples.offers(self.world)

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        return samples.draw_sample(self.world, attribute, sizes, rng)

    def confirmed(self, code: str) -> Persons:
        """Return the confirmed people: four in five, different ones for every code."""
        everybody = np.arange(self.world.people)
        taking_part = draw_uniform(self.world.seed, f"confirmed/{code}", everybody) < _TAKING_PART
        return everybody[taking_part]

    @cached_property
    def model_digest(self) -> str:
        """Return the digest of everything that determines a score, except the person's features."""
        parts = {"version": _VERSION, "stems": self.relevance.reader.stems}
        if self.bias is not None:
            amounts = dict(self.bias.amounts)
            parts["bias"] = {**vars(self.bias), "amounts": amounts, "seed": self.world.seed}
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        digest.update(self.relevance.weights.astype("<f8").tobytes())
        return f"sha256:{digest.hexdigest()}"

    @property
    def score_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return CONTEXT

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        """Return the model's current scores with the bias, clipped to the range."""
        if len(persons) and persons.min() < 0:
            raise ValueError("person numbers start at 0; omit identifiers that matched nobody")
        scores = self.relevance.score(
            content, self.world.seen, persons, make_single_moment(context)
        )
        if self.bias is not None and self.bias.content_kind in (None, content["kind"]):
            scores = self.bias.apply(scores, persons, self.world.demographics, self.world.seed)
        return np.clip(scores, *self.score_range)
