"""Platform whose scores are a stored column: the same numbers as in the peer's file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.app.compose import make_simulated_platform
from api.platforms.interfaces import Persons, Platform
from tests.one_model import OneModel


class Column(OneModel):
    def __init__(self, path: str) -> None:
        self.scores = np.load(path)

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.scores[persons]
        return found


def platform(path: str) -> Platform:
    """Return a platform. Its people do not matter: the bench seals audiences."""
    return Platform(
        "a column", people=make_simulated_platform(people=1_000).people, scores=Column(path)
    )
