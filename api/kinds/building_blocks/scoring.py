"""Scores from an adapter that may be wrong about some people; nobody can tell about whom (R2).

An unusable score is NaN; so is the score of people for whom the adapter fails.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.platforms.fault_isolation import call_isolating_failures, require_platform_up
from api.platforms.interfaces import Persons, Scores
from api.telemetry.metrics import adapter_call


def score_isolating_failures(
    scores: Scores,
    content: Mapping[str, Any],
    persons: Persons,
    context: Mapping[str, str | float],
) -> NDArray[np.float64]:
    """Return one score per person, NaN where there is none."""

    def score(start: int, stop: int) -> NDArray[np.float64]:
        with adapter_call("score"):
            found = scores.score(content, persons[start:stop], context)
        return np.asarray(found, dtype=np.float64)

    return call_isolating_failures(score, len(persons), np.float64(np.nan))


def require_scoring(
    scores: Scores, content: Mapping[str, Any], context: Mapping[str, str | float]
) -> None:
    """Request the scores of nobody, so that an empty audience fails like any other."""
    nobody = np.empty(0, np.int64)
    require_platform_up(adapter_call("score")(lambda: scores.score(content, nobody, context)))
