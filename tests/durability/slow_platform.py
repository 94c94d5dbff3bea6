"""A platform whose scoring a test can hold up and watch, from outside of the process.

Everybody scores .5. In its folder, every call to score somebody leaves a file
`began-<process>-<n>`; while there is a file `hold`, calls wait, and leave a file `held-<process>`.

What people are shown pleases them every other time, whosever it is. A call to show them something
leaves a line for each step in `steps-<process>`; while there is a file `hold-<step>`, that step
waits. Whose number is in the file `withdrawn` does not consent.
"""

import os
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from api.platforms.interfaces import Persons, Platform
from tests.one_model import OneModel

PEOPLE = 1_000


class SlowPlatform(OneModel):
    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds
        self.calls = count()

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        return np.arange(len(identifiers)) % PEOPLE

    def offers(self) -> Mapping[str, Mapping[str, int]]:
        return {"gender": {"woman": PEOPLE // 2, "man": PEOPLE // 2}}

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        first = {"woman": 0, "man": PEOPLE // 2}
        return {value: np.arange(size) + first[value] for value, size in sizes.items()}

    def confirmed(self, code: str) -> Persons:
        return np.arange(PEOPLE)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        if not len(persons):
            return np.empty(0)  # Nobody's score is asked for to see whether the platform is up.
        (self.folder / f"began-{os.getpid()}-{next(self.calls)}").touch()
        time.sleep(self.seconds)
        while (self.folder / "hold").exists():
            (self.folder / f"held-{os.getpid()}").touch()
            time.sleep(0.02)
        return np.full(len(persons), 0.5)


class SlowPolicies:
    policies_digest = "sha256:" + "1" * 64
    step_seconds = 0.005

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        file = self.folder / "withdrawn"
        gone = [int(line) for line in file.read_text().split()] if file.exists() else []
        return ~np.isin(persons, gone)

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        with (self.folder / f"steps-{os.getpid()}").open("a") as log:
            for line in zip(targets, steps, arms, strict=True):
                print(*line, file=log)
        holds = [self.folder / f"hold-{step}" for step in np.unique(steps)]
        while any(hold.exists() for hold in holds):
            time.sleep(0.02)
        return ((targets + steps) % 2).astype(np.float64)


def make(folder: str, seconds: float = 0.0) -> Platform:
    slow = SlowPlatform(Path(folder), seconds)
    return Platform("slow", people=slow, scores=slow, policies=SlowPolicies(slow.folder))
