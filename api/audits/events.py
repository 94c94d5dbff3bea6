"""Events of audits: one query of the database serves all streams of a process.

A worker of this process announces the state that it has committed, without a query. Polling finds
changes by other processes: often at first, when small audits end, and then less and less. With more
listeners the queue is longer, so a delay matters less. States never go back: an announced state is
never older than the state that is shown.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from fastapi.concurrency import run_in_threadpool

# Seconds between two polls: the minimum for each listener, and the maximum.
_SOON, _LATE = 0.02, 0.5
# Events kept for listeners that begin a moment later; polling finds older ones.
_RECENT_STATES_KEPT = 1_000
States = Mapping[str, str]


@dataclass(eq=False)
class _Listener:
    name: str
    shown: str
    found: asyncio.Future[str]


@dataclass
class AuditEvents:
    # Return the states of these audits; the caller's right to read them was checked before.
    read: Callable[[Collection[str]], States]
    _waiting: set[_Listener] = field(default_factory=set)
    _said: dict[str, str] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _loop: asyncio.AbstractEventLoop | None = None
    _looking: asyncio.Task[None] | None = None
    _pause: float = _SOON

    def publish(self, name: str, state: str) -> None:
        """Announce a committed state, from any thread.

        If nobody listens for it, nothing is woken.
        """
        with self._guard:
            self._said[name] = state
            if len(self._said) > _RECENT_STATES_KEPT:
                del self._said[next(iter(self._said))]
        if self._loop is not None and any(each.name == name for each in tuple(self._waiting)):
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self._hear, name, state)

    async def next_state(self, name: str, shown: str) -> str:
        """Return the state that follows the one shown, as soon as it is known."""
        self._loop = asyncio.get_running_loop()
        waiting = _Listener(name, shown, self._loop.create_future())
        # The listener is registered before the recent states are read. `publish` stores the state
        # before it looks for listeners. So one of the two always finds the other.
        self._waiting.add(waiting)
        try:
            if (said := self._said.get(name, shown)) != shown:
                return said
            self._pause = min(_SOON * len(self._waiting), _LATE)
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            return await waiting.found
        finally:
            self._waiting.discard(waiting)

    def _hear(self, name: str, state: str) -> None:
        _tell([each for each in self._waiting if each.name == name], {name: state})

    async def _look(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._pause)
            self._pause = min(self._pause * 1.5, _LATE)
            if not (asked := set(self._waiting)):
                return
            try:
                states = await run_in_threadpool(self.read, {each.name for each in asked})
            except Exception as error:  # a database error ends every stream
                _fail(asked, error)
            else:
                _tell(asked, states)


def _tell(asked: Collection[_Listener], states: States) -> None:
    for each in asked:
        state = states.get(each.name, each.shown)  # an audit that does not exist keeps its state
        if state != each.shown and not each.found.done():
            each.found.set_result(state)


def _fail(asked: Collection[_Listener], error: Exception) -> None:
    for each in asked:
        if not each.found.done():
            each.found.set_exception(error)
