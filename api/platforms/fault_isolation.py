"""Isolation of adapter failures: a call may fail for some people, and nobody can tell for whom
(R2).

A failing call is repeated on halves until the people it fails for are alone. They get the value for
nobody, and everybody else is served. The adapter is down only if it cannot even serve an empty
request, which depends on nobody. This also follows a `PlatformDownError` of the adapter itself.

A failing person costs at most 2·L calls on halves, L levels deep, and L + 1 about nobody. The batch
is filled up with calls about nobody: to 4·(3·L + 1) for one to four failing people, and beyond to
16, 64, 256 … times 3·L + 1 (docs/explanation/guarantee.md, "What remains observable: time").
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

# One to this number of failing people cost a batch the same number of calls.
_SAME_FOR = 4
Value = TypeVar("Value", bound=np.generic)
Answer = TypeVar("Answer")


class PlatformDownError(Exception):
    """The platform does not answer at the moment, to any request.

    `case` is a stable word for the reason.
    """

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


def call_isolating_failures(
    call: Callable[[int, int], NDArray[Value]], people: int, nobody: Value
) -> NDArray[Value]:
    """Return the values of `call(start, stop)` for these people, and `nobody` where it fails.

    The values are copied, because an adapter may reuse its array.
    """

    def one_each(start: int, stop: int) -> NDArray[Value] | None:
        values = call(start, stop)
        return values if values.shape == (stop - start,) else None

    result, filled = np.empty(people, nobody.dtype), 0
    for start, stop, values in iter_isolating_failures(one_each, people):
        result[filled:start] = nobody
        result[start:stop] = values
        filled = stop
    result[filled:] = nobody
    return result


def iter_isolating_failures(
    call: Callable[[int, int], Answer | None], people: int
) -> Iterator[tuple[int, int, Answer]]:
    """Yield the answers of `call(start, stop)`, in order, for all people for whom it answers.

    A call returns None if data about these people made the answer unusable.
    """
    waiting, calls, failed = [(0, 1 << max(0, people - 1).bit_length())], 0, False
    while waiting:
        first, last = waiting.pop()
        start, stop = min(first, people), min(last, people)
        calls += 1
        try:
            answer = call(start, stop)
        except Exception:  # an adapter may raise anything; nothing of it may be visible outside
            require_platform_up(partial(call, start, start))
            calls += 1
            answer = None
        if answer is not None:
            if start < stop or not people:
                yield start, stop, answer
        elif last - first > 1 and start < stop:
            middle = (first + last) // 2
            waiting += [(middle, last), (first, middle)]
        failed = failed or answer is None
    if failed:
        for _ in range(calls_with_failures(people, calls) - calls):
            require_platform_up(partial(call, 0, 0))


def calls_with_failures(people: int, made: int = 0) -> int:
    """Return the number of calls for a batch with failures, of which `made` were made already."""
    levels = max(0, people - 1).bit_length()
    one, range_end = 3 * levels + 1, _SAME_FOR
    while 1 + range_end * one < made:
        range_end *= _SAME_FOR
    return 1 + range_end * one


def require_platform_up(call: Callable[[], Any]) -> None:
    """Make a call that concerns nobody; raise `PlatformDownError` if it fails."""
    try:
        call()
    except PlatformDownError:
        raise
    except Exception as error:
        raise PlatformDownError("The platform does not answer.") from error
