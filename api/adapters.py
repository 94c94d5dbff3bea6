"""Calls to a platform's adapter that may fail for some people, without anyone noticing who (R2).

A call that fails is repeated on halves until the people it fails for are alone: they get the value
for nobody, and everybody else is served, however many they are. One person's data change one
person's value and no other. Only when the adapter cannot even serve an empty request is it down,
which has nothing to do with anyone.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=np.generic)


class PlatformDownError(Exception):
    """The platform does not answer at the moment, whoever it is asked about."""


def call_or_cut(
    call: Callable[[int, int], NDArray[Value]], result: NDArray[Value]
) -> NDArray[Value]:
    """Fill `result`, which holds the value for nobody, from `call(start, stop)` where it works."""
    waiting = [(0, len(result))]
    while waiting:
        start, stop = waiting.pop()
        values = _attempt(call, start, stop)
        if values is not None:
            result[start:stop] = values
        elif stop - start > 1:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]
    return result


def refuse_when_down(call: Callable[[], Any]) -> None:
    """Make a call that concerns nobody."""
    try:
        call()
    except Exception as error:
        raise PlatformDownError("the platform does not answer") from error


def _attempt(
    call: Callable[[int, int], NDArray[Value]], start: int, stop: int
) -> NDArray[Value] | None:
    """The values, or None when something about these people made the call fail."""
    try:
        values = call(start, stop)
    except Exception:  # an adapter may raise anything; nothing of it may be seen outside
        refuse_when_down(lambda: call(start, start))
        return None
    return values if values.shape == (stop - start,) else None
