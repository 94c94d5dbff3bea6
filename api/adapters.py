"""Calls to a platform's adapter that may fail for some people, without anyone noticing who (R2).

A call that fails is repeated on halves until the people it fails for are alone: they get the value
for nobody, and everybody else is served, however many they are. One person's data change one
person's value and no other. Only when the adapter cannot even serve an empty request is it down,
which has nothing to do with anyone. An adapter may raise `PlatformDownError` itself, and is not
believed about somebody: it is asked about nobody then, as after any other error.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=np.generic)
Answer = TypeVar("Answer")


class PlatformDownError(Exception):
    """The platform does not answer at the moment, whoever it is asked about."""


def call_or_cut(
    call: Callable[[int, int], NDArray[Value]], people: int, nobody: Value
) -> NDArray[Value]:
    """What `call(start, stop)` gives for so many people, and the value for nobody elsewhere.

    It is copied: an adapter may use its array again.
    """

    def one_each(start: int, stop: int) -> NDArray[Value] | None:
        values = call(start, stop)
        return values if values.shape == (stop - start,) else None

    result, filled = np.empty(people, nobody.dtype), 0
    for start, stop, values in answers_or_cut(one_each, people):
        result[filled:start] = nobody
        result[start:stop] = values
        filled = stop
    result[filled:] = nobody
    return result


def answers_or_cut(
    call: Callable[[int, int], Answer | None], people: int
) -> Iterator[tuple[int, int, Answer]]:
    """What `call(start, stop)` answers, in order, about all people for whom it does.

    A call answers None when something about these people made what came back unusable.
    """
    waiting = [(0, people)]
    while waiting:
        start, stop = waiting.pop()
        try:
            answer = call(start, stop)
        except Exception:  # an adapter may raise anything; nothing of it may be seen outside
            refuse_when_down(partial(call, start, start))
            answer = None
        if answer is not None:
            yield start, stop, answer
        elif stop - start > 1:
            middle = (start + stop) // 2
            waiting += [(middle, stop), (start, middle)]


def refuse_when_down(call: Callable[[], Any]) -> None:
    """Make a call that concerns nobody."""
    try:
        call()
    except PlatformDownError:
        raise
    except Exception as error:
        raise PlatformDownError("the platform does not answer") from error
