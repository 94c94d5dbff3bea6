"""A platform whose people a checker can name: who is in an audience follows from what was asked.

Usernames are `u0` to `u999`. Attribute `w<n>` has a window of people with values `a` and `b`, and
neighbouring windows overlap. While there is a file `hold`, scoring waits and says so in a file
`held-<process>`. While there is a file `hold-matching`, no identifier is matched.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from api.platforms.interfaces import Persons, Platform
from tests.one_model import OneModel

PEOPLE = 1_000
WINDOWS, STEP, GROUP = 24, 40, 30


def window(attribute: str, value: str) -> range:
    """Return the people of an attribute's value, in the order in which samples take them."""
    first = STEP * int(attribute.removeprefix("w")) + (GROUP if value == "b" else 0)
    return range(first, first + GROUP)


class Windows(OneModel):
    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        while len(identifiers) and (self.folder / "hold-matching").exists():
            time.sleep(0.01)
        return np.array([int(name[1:]) for name in identifiers.to_pylist()], np.int64)

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {f"w{number}": {"a": GROUP, "b": GROUP} for number in range(WINDOWS)}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        return {
            value: np.array(window(attribute, value)[:size], np.int64)
            for value, size in sizes.items()
        }

    def confirmed(self, code: str) -> Persons:
        return np.arange(PEOPLE)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        if len(persons):
            time.sleep(self.seconds)
            while (self.folder / "hold").exists():
                (self.folder / f"held-{os.getpid()}").touch()
                time.sleep(0.01)
        return np.full(len(persons), 0.5)


def make(folder: str, seconds: float = 0.0) -> Platform:
    windows = Windows(Path(folder), seconds)
    return Platform("windows", people=windows, scores=windows)
