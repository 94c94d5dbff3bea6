"""Scores from an adapter that may be wrong about some people, without anyone noticing who (R2).

A value that cannot be used is NaN, and a call that fails because of some people is repeated on
halves until they are alone: they get NaN and everybody else is scored. Only when the adapter cannot
even score nobody is it down, which has nothing to do with anyone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.platform import Persons, Scores

# So many calls may be repeated for one batch; after that the people left over are cut unscored.
_REPEATS = 1_000


class PlatformDownError(Exception):
    """The platform cannot score at the moment, whoever it is asked about."""


def score_or_cut(
    scores: Scores,
    content: Mapping[str, Any],
    persons: Persons,
    context: Mapping[str, str | float],
) -> NDArray[np.float64]:
    """One score per person, NaN where there is none."""
    result = np.full(len(persons), np.nan)
    waiting = [(0, len(persons))]
    for _ in range(_REPEATS):
        if not waiting:
            break
        start, stop = waiting.pop()
        values = _attempt(scores, content, persons[start:stop], context)
        if values is not None:
            result[start:stop] = values
        elif stop - start > 1:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
    return result


def _attempt(
    scores: Scores,
    content: Mapping[str, Any],
    persons: Persons,
    context: Mapping[str, str | float],
) -> NDArray[np.float64] | None:
    """The scores, or None when something about these people made the call fail."""
    try:
        values = np.asarray(scores.score(content, persons, context), dtype=np.float64)
    except Exception:  # an adapter may raise anything; nothing of it may be seen outside
        refuse_when_down(scores, content, context)
        return None
    return values if values.shape == persons.shape else None


def refuse_when_down(
    scores: Scores, content: Mapping[str, Any], context: Mapping[str, str | float]
) -> None:
    """Ask for nobody's score, so that an audience that matched nobody fails like any other."""
    try:
        scores.score(content, np.empty(0, np.int64), context)
    except Exception as error:
        raise PlatformDownError("the platform cannot score anybody") from error
