"""What waits for one lock is done together: whoever comes first does it for all who wait.

Who comes while the lock is waited for is done with the others; who comes later is done next. So the
work is done by the threads of those who asked, and what each would do alone is done once for all.
Whatever is wrong with one of them undoes all, and they are done one by one: nobody fails for
another's sake.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from api.kernel.errors import UnavailableError

# Seconds that one waits to be served by another. Who holds the lock has time limits of its own.
_PATIENCE = 30.0

Held = TypeVar("Held")
Wish = TypeVar("Wish")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Waiting(Generic[Wish, Answer]):
    wish: Wish
    # Set when there is an answer, or when it is this one's turn to do the work.
    told: threading.Event = field(default_factory=threading.Event)
    answer: Future[Answer] = field(default_factory=Future)


class Together(Generic[Held, Wish, Answer]):
    """`do` answers some, in their order, while `hold` holds the lock: or raises, and all is undone.

    `joins` tells who may be done with others, and `hopeless` what would be raised for each.
    """

    def __init__(
        self,
        hold: Callable[[], AbstractContextManager[Held]],
        do: Callable[[Held, Sequence[Wish]], Sequence[Answer]],
        joins: Callable[[Wish, Sequence[Wish]], bool],
        hopeless: tuple[type[Exception], ...] = (),
        patience: float = _PATIENCE,
    ) -> None:
        self._patience = patience
        self._hold, self._do, self._joins, self._hopeless = hold, do, joins, hopeless
        self._guard = threading.Lock()
        self._waiting: list[_Waiting[Wish, Answer]] = []

    def __call__(self, wish: Wish) -> Answer:
        """The answer to this, or what is raised in place of one."""
        mine = _Waiting[Wish, Answer](wish)
        with self._guard:
            self._waiting.append(mine)
            first = self._waiting[0] is mine
        if not first and not mine.told.wait(self._patience):
            self._give_up(mine)
        if not mine.answer.done():
            self._lead(mine)
        return mine.answer.result(timeout=0)

    def _give_up(self, mine: _Waiting[Wish, Answer]) -> None:
        """Leave the line and raise, unless this one was told at the last moment."""
        with self._guard:
            if mine.told.is_set():
                return
            self._waiting.remove(mine)
        # Whoever was chosen already may still be done: asking again with the same key is harmless.
        raise UnavailableError(
            f"The books were not free within {self._patience:g} s. Try again with the same key.",
            headers={"Retry-After": "2"},
        )

    def _lead(self, mine: _Waiting[Wish, Answer]) -> None:
        """Have the first who waits, which is this one, answered with all who may join it."""
        try:
            self._serve(mine)
        except BaseException as error:  # whatever it is, the others are not left to wait
            _fail([mine], error)
        finally:
            with self._guard:
                self._waiting = [each for each in self._waiting if not each.answer.done()]
                # Told under the guard: who gives up has left the line before, or leads.
                for each in self._waiting[:1]:
                    each.told.set()

    def _serve(self, mine: _Waiting[Wish, Answer]) -> None:
        some, error = self._tried(self._company)
        if isinstance(error, self._hopeless):
            _fail(some or self._everybody(), error)
        elif error is not None and len(some) > 1:
            self._serve_each(some)
        elif error is not None:
            _fail([mine], error)

    def _serve_each(self, some: Sequence[_Waiting[Wish, Answer]]) -> None:
        for at, each in enumerate(some):
            _, error = self._tried(partial(list, [each]))
            if isinstance(error, self._hopeless):
                return _fail(some[at:], error)
            if error is not None:
                _fail([each], error)
        return None

    def _tried(
        self, choose: Callable[[], list[_Waiting[Wish, Answer]]]
    ) -> tuple[list[_Waiting[Wish, Answer]], Exception | None]:
        """Who was chosen once the lock was there, nobody if it never was; and what went wrong."""
        some: list[_Waiting[Wish, Answer]] = []
        try:
            with self._hold() as held:
                some = choose()
                answers = self._do(held, [each.wish for each in some])
        except Exception as error:
            return some, error
        for each, answer in zip(some, answers, strict=True):
            each.answer.set_result(answer)
            each.told.set()
        return some, None

    def _company(self) -> list[_Waiting[Wish, Answer]]:
        """The first who waits, and all who may join it."""
        some: list[_Waiting[Wish, Answer]] = []
        for each in self._everybody():
            if not some or self._joins(each.wish, [other.wish for other in some]):
                some.append(each)
        return some

    def _everybody(self) -> list[_Waiting[Wish, Answer]]:
        with self._guard:
            return list(self._waiting)


def _fail(some: Iterable[_Waiting[Wish, Answer]], error: BaseException) -> None:
    for each in some:
        if not each.answer.done():
            each.answer.set_exception(error)
            each.told.set()
