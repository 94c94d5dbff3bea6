"""Who follows an audit waits here: one look at the database serves all streams of a process.

A worker of this process says when something moved; what others move is found by looking, often at
first, when small audits end, and then less and less.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi.concurrency import run_in_threadpool

# Seconds between two looks when nobody says that anything moved.
_SOON, _LATE = 0.02, 0.5
States = Mapping[str, str]


@dataclass(eq=False)
class _Waiting:
    name: str
    shown: str
    found: asyncio.Future[str]


@dataclass
class Following:
    # The states of these, whoever asks: who may ask was judged before.
    read: Callable[[Collection[str]], States]
    _waiting: set[_Waiting] = field(default_factory=set)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _looking: asyncio.Task[None] | None = None
    _pause: float = _SOON

    def moved(self) -> None:
        """Say, from any thread, that a state has changed."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._moved.set)

    async def after(self, name: str, shown: str) -> str:
        """The state that follows the one shown."""
        self._loop = asyncio.get_running_loop()
        waiting = _Waiting(name, shown, self._loop.create_future())
        self._waiting.add(waiting)
        self._pause = _SOON
        if self._looking is None or self._looking.done():
            self._moved = asyncio.Event()
            self._looking = asyncio.create_task(self._look())
        try:
            return await waiting.found
        finally:
            self._waiting.discard(waiting)

    async def _look(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), self._pause)
            self._moved.clear()
            self._pause = min(self._pause * 1.5, _LATE)
            asked = set(self._waiting)
            try:
                states = await run_in_threadpool(self.read, {each.name for each in asked})
            except Exception as error:  # of the database; every stream ends with it
                _fail(asked, error)
            else:
                _tell(asked, states)


def _tell(asked: Collection[_Waiting], states: States) -> None:
    for each in asked:
        state = states.get(each.name, each.shown)  # an audit that is not there stands still
        if state != each.shown and not each.found.done():
            each.found.set_result(state)


def _fail(asked: Collection[_Waiting], error: Exception) -> None:
    for each in asked:
        if not each.found.done():
            each.found.set_exception(error)
