"""A platform of few people that takes no time, and writes down whom it scored for what.

Two attributes offer audiences that overlap: the people 30 to 59 are in both. A third has people of
its own, who consent to be shown something.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from api.platforms.interfaces import Persons, Platform
from tests.faults.exchanging import TinyDirectory
from tests.faults.exploring import PEOPLE as EXPLORERS
from tests.faults.exploring import TinyPolicies
from tests.one_model import OneModel

OFFERS: dict[str, dict[str, range]] = {
    "first": {"a": range(40), "b": range(40, 60)},
    "second": {"a": range(30, 60), "b": range(60, 90)},
    "third": {"a": range(90, 90 + EXPLORERS)},
}


class TinyPlatform(OneModel):
    def __init__(self, scored: Path) -> None:
        self.scored = scored

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        return np.arange(len(identifiers), dtype=np.int64)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {
            name: {value: len(people) for value, people in values.items()}
            for name, values in OFFERS.items()
        }

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        return {
            value: np.array(OFFERS[attribute][value][:size], np.int64)
            for value, size in sizes.items()
        }

    def confirmed(self, code: str) -> Persons:
        return np.empty(0, np.int64)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        line = json.dumps({"title": content["title"], "persons": persons.tolist()})
        with self.scored.open("a") as file:
            file.write(line + "\n")
        return np.full(len(persons), 0.5)


def make(folder: str) -> Platform:
    tiny = TinyPlatform(Path(folder) / "scored")
    policies = TinyPolicies(Path(folder) / "shown")
    listed = TinyDirectory()
    return Platform("tiny", people=tiny, scores=tiny, policies=policies, directory=listed)
