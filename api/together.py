"""What waits for one lock is done together: whoever comes first does it for all who wait.

Who comes while the lock is waited for is done with the others; who comes later is done next. So the
work is done by the threads of those who asked, and what each would do alone is done once for all.
Whatever is wrong with one of them undoes all, and they are done one by one: nobody fails for
another's sake.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

Held = TypeVar("Held")
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Waiting(Generic[Asked, Answer]):
    asked: Asked
    # Set when there is an answer, or when it is this one's turn to do the work.
    told: threading.Event = field(default_factory=threading.Event)
    answer: Future[Answer] = field(default_factory=Future)


class Together(Generic[Held, Asked, Answer]):
    """`do` answers some, in their order, while `hold` holds the lock: or raises, and all is undone.

    `joins` tells who may be done with others, and `hopeless` what would be raised for each.
    """

    def __init__(
        self,
        hold: Callable[[], AbstractContextManager[Held]],
        do: Callable[[Held, Sequence[Asked]], Sequence[Answer]],
        joins: Callable[[Asked, Sequence[Asked]], bool],
        hopeless: tuple[type[Exception], ...] = (),
    ) -> None:
        self._hold, self._do, self._joins, self._hopeless = hold, do, joins, hopeless
        self._guard = threading.Lock()
        self._waiting: list[_Waiting[Asked, Answer]] = []

    def __call__(self, asked: Asked) -> Answer:
        """The answer to this, or what is raised in place of one."""
        mine = _Waiting[Asked, Answer](asked)
        with self._guard:
            self._waiting.append(mine)
            first = self._waiting[0] is mine
        if not first:
            mine.told.wait()
        if not mine.answer.done():
            self._lead()
        return mine.answer.result()

    def _lead(self) -> None:
        """Answer the first who waits, which is the one who leads, and all who may join it."""
        try:
            self._answer(self._first)
        finally:
            with self._guard:
                done = [each for each in self._waiting if each.answer.done()]
                self._waiting = [each for each in self._waiting if each not in done]
                told = [*done, *self._waiting[:1]]
            for each in told:
                each.told.set()

    def _first(self) -> list[_Waiting[Asked, Answer]]:
        with self._guard:
            some = self._waiting[:1]
            for each in self._waiting[1:]:
                if self._joins(each.asked, [other.asked for other in some]):
                    some.append(each)
        return some

    def _answer(self, choose: Callable[[], list[_Waiting[Asked, Answer]]]) -> None:
        some: list[_Waiting[Asked, Answer]] = []
        try:
            with self._hold() as held:
                some = choose()
                answers = self._do(held, [each.asked for each in some])
        except BaseException as error:  # whatever it is, nobody is left to wait
            self._fail(some or choose(), error)
        else:
            for each, answer in zip(some, answers, strict=True):
                each.answer.set_result(answer)

    def _fail(self, some: Sequence[_Waiting[Asked, Answer]], error: BaseException) -> None:
        everybodys = not isinstance(error, Exception) or isinstance(error, self._hopeless)
        for each in some:
            if everybodys or len(some) == 1:
                each.answer.set_exception(error)
            else:
                self._answer(partial(list, [each]))
