"""What waits for one lock is done together: whoever comes first does it for all who wait.

Others come while it is done, and the first of them does the next lot. So the work is done by the
threads of those who asked, and what each would do by itself is done once for all.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Waiting(Generic[Asked, Answer]):
    asked: Asked
    # Set when there is an answer, or when it is this one's turn to do the work.
    told: threading.Event = field(default_factory=threading.Event)
    answer: Future[Answer] = field(default_factory=Future)


class Together(Generic[Asked, Answer]):
    """`do` answers some at a time, in their order; `joins` tells who may be done with others."""

    def __init__(
        self,
        do: Callable[[Sequence[Asked]], Sequence[Answer | Exception]],
        joins: Callable[[Asked, Sequence[Asked]], bool],
    ) -> None:
        self._do, self._joins = do, joins
        self._lock = threading.Lock()
        self._waiting: list[_Waiting[Asked, Answer]] = []

    def __call__(self, asked: Asked) -> Answer:
        """The answer to this, or what is raised in place of one."""
        mine = _Waiting[Asked, Answer](asked)
        with self._lock:
            self._waiting.append(mine)
            first = self._waiting[0] is mine
        if not first:
            mine.told.wait()
        if not mine.answer.done():
            self._lead()
        return mine.answer.result()

    def _lead(self) -> None:
        """Answer the first who waits, which is the one who leads, and all who may join it."""
        with self._lock:
            some = self._waiting[:1]
            for each in self._waiting[1:]:
                if self._joins(each.asked, [other.asked for other in some]):
                    some.append(each)
        try:
            _answer(some, self._do([each.asked for each in some]))
        except BaseException as error:  # whatever it is, nobody is left to wait
            _answer(some, [error] * len(some))
        finally:
            with self._lock:
                self._waiting = [each for each in self._waiting if each not in some]
                told = [*some, *self._waiting[:1]]
            for each in told:
                each.told.set()


def _answer(
    some: Sequence[_Waiting[Asked, Answer]], answers: Sequence[Answer | BaseException]
) -> None:
    for each, answer in zip(some, answers, strict=True):
        if isinstance(answer, BaseException):
            each.answer.set_exception(answer)
        else:
            each.answer.set_result(answer)
