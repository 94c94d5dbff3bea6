"""Adapters with habits, over the simulated people: as real as any that a platform would write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from api.app.compose import make_simulated_platform
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Persons, Platform, Scores
from platform_sim import SimulatedPlatform

# What an adapter that breaks may well say: everything that must not get out.
GOSSIP = "person 471147114711 (gossip.victim@example.org) has score 0.123456789"


@dataclass
class Watched:
    """Scores of the simulated platform, and a record of who was scored."""

    inner: Scores
    seen: list[Persons] = field(default_factory=list)

    @property
    def model_digest(self) -> str:
        return self.inner.model_digest

    @property
    def score_range(self) -> tuple[float, float]:
        return self.inner.score_range

    @property
    def context(self) -> Mapping[str, Sequence[str | float]]:
        return self.inner.context

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        self.seen.append(persons)
        return self.inner.score(content, persons, context)


@dataclass
class Faulty(Watched):
    """Goes wrong about one person, in the way that the content's title says."""

    victim: int = 0

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        scores = super().score(content, persons, context)
        if content["title"] == "down":
            raise ConnectionError(GOSSIP)
        there = persons == self.victim
        if there.any() and content["title"] in FAULTS:
            return cast("NDArray[np.float64]", FAULTS[content["title"]](scores, there))
        return scores


@dataclass
class Mislabelled(Watched):
    """An adapter whose answers about one person name another model, or none."""

    label: str = ""
    victim: int = 0
    about_one: bool = False

    @property
    def model_digest(self) -> str:
        about_one, self.about_one = self.about_one, False
        return self.label if about_one else self.inner.model_digest

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        self.about_one = self.victim in persons
        return super().score(content, persons, context)


def _raise(error: Exception) -> Any:
    raise error


# How an adapter may go wrong: what it returns for everybody, given the scores and who is odd.
FAULTS: Mapping[str, Callable[[Any, Any], Any]] = {
    "raises": lambda scores, odd: _raise(KeyError(GOSSIP)),
    "runs out of memory": lambda scores, odd: _raise(MemoryError(GOSSIP)),
    "says that it is down": lambda scores, odd: _raise(PlatformDownError(GOSSIP)),
    "not a number": lambda scores, odd: np.where(odd, np.nan, scores),
    "infinity": lambda scores, odd: np.where(odd, np.inf, scores),
    "beyond the range": lambda scores, odd: np.where(odd, 1e300, scores),
    "too short": lambda scores, odd: scores[~odd],
    "a square": lambda scores, odd: np.stack([scores, scores]),
    "nothing": lambda scores, odd: None,
    "words": lambda scores, odd: np.where(odd, GOSSIP, scores.astype(str)),
    "objects": lambda scores, odd: np.where(odd, cast("Any", object()), scores),
    "complex numbers": lambda scores, odd: np.where(odd, 1j, scores),
}


def on(platform: Platform, scores: Scores) -> Platform:
    return replace(platform, scores=scores)


class Gossips(SimulatedPlatform):
    """Fails when it is asked for one user name, and quotes it."""

    def __init__(self, inner: SimulatedPlatform) -> None:
        super().__init__(inner.world)

    def match(self, kind: str, identifiers: Any) -> Persons:
        if "gossip.victim" in identifiers.to_pylist():
            raise ValueError(GOSSIP)
        return super().match(kind, identifiers)


def faulty_platform(people: int = 6_000) -> Platform:
    """For `platform-auditor serve`, by its settings."""
    world = make_simulated_platform(people=people, seed=7).people
    assert isinstance(world, SimulatedPlatform)
    first = int(world.world.directory.holders("username")[0])
    scores = Faulty(world, victim=first)
    return Platform(name="faulty", people=Gossips(world), scores=scores)
