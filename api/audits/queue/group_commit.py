"""Group commit: the first thread to get the lock commits every waiting request.

Requests that arrive during the wait join the batch; later ones form the next batch. The threads of
the requests do the work, and shared work is done once for the batch. If one request fails, the
batch is rolled back and each request is committed alone. So no request fails because of another.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from api.kernel.errors import UnavailableError

# Seconds that a request waits for another thread to commit it. The thread that holds the lock has
# time limits of its own.
_WAIT_SECONDS = 30.0

Locked = TypeVar("Locked")
Request = TypeVar("Request")
Result = TypeVar("Result")


@dataclass(eq=False)
class _PendingRequest(Generic[Request, Result]):
    request: Request
    # Set when there is a result, or when this request leads the next batch.
    ready: threading.Event = field(default_factory=threading.Event)
    result: Future[Result] = field(default_factory=Future)


class GroupCommit(Generic[Locked, Request, Result]):
    """Group commit: `commit` answers a batch in order, while `acquire` holds the lock.

    If `commit` raises, the whole batch is rolled back. `can_join` decides whether a request may
    join a batch. An error in `fatal` would be raised for every request, so it is raised for all at
    once.
    """

    def __init__(
        self,
        acquire: Callable[[], AbstractContextManager[Locked]],
        commit: Callable[[Locked, Sequence[Request]], Sequence[Result]],
        can_join: Callable[[Request, Sequence[Request]], bool],
        fatal: tuple[type[Exception], ...] = (),
        patience: float = _WAIT_SECONDS,
    ) -> None:
        self._patience = patience
        self._acquire, self._commit, self._can_join, self._fatal = acquire, commit, can_join, fatal
        self._guard = threading.Lock()
        self._waiting: list[_PendingRequest[Request, Result]] = []

    def __call__(self, request: Request) -> Result:
        """Return the result of this request, or raise its error."""
        mine = _PendingRequest[Request, Result](request)
        with self._guard:
            self._waiting.append(mine)
            first = self._waiting[0] is mine
        if not first and not mine.ready.wait(self._patience):
            self._give_up(mine)
        if not mine.result.done():
            self._run_as_leader(mine)
        return mine.result.result(timeout=0)

    def _give_up(self, mine: _PendingRequest[Request, Result]) -> None:
        """Leave the queue and raise, unless this request got its result or became leader
        meanwhile.
        """
        with self._guard:
            if mine.ready.is_set():
                return
            self._waiting.remove(mine)
        # A request that is in a batch already may still be committed: a retry with the same key is
        # safe.
        raise UnavailableError(
            f"The ledger was locked for {self._patience:g} s. Try again with the same key.",
            headers={"Retry-After": "2"},
        )

    def _run_as_leader(self, mine: _PendingRequest[Request, Result]) -> None:
        """Commit the first waiting request, which is this one, with all that may join it."""
        try:
            self._commit_batch(mine)
        except BaseException as error:  # of any kind: the other requests must not wait for ever
            _fail([mine], error)
        finally:
            with self._guard:
                self._waiting = [pending for pending in self._waiting if not pending.result.done()]
                # Set under the guard: a request that gives up has left the queue before, or it
                # leads.
                for pending in self._waiting[:1]:
                    pending.ready.set()

    def _commit_batch(self, mine: _PendingRequest[Request, Result]) -> None:
        batch, error = self._attempt(self._select_batch)
        if isinstance(error, self._fatal):
            _fail(batch or self._pending(), error)
        elif error is not None and len(batch) > 1:
            self._commit_individually(batch)
        elif error is not None:
            _fail([mine], error)

    def _commit_individually(self, batch: Sequence[_PendingRequest[Request, Result]]) -> None:
        for at, pending in enumerate(batch):
            _, error = self._attempt(partial(list, [pending]))
            if isinstance(error, self._fatal):
                return _fail(batch[at:], error)
            if error is not None:
                _fail([pending], error)
        return None

    def _attempt(
        self, choose: Callable[[], list[_PendingRequest[Request, Result]]]
    ) -> tuple[list[_PendingRequest[Request, Result]], Exception | None]:
        """Return the batch chosen under the lock (empty without the lock), and the error."""
        batch: list[_PendingRequest[Request, Result]] = []
        try:
            with self._acquire() as locked:
                batch = choose()
                results = self._commit(locked, [pending.request for pending in batch])
        except Exception as error:
            return batch, error
        for pending, result in zip(batch, results, strict=True):
            pending.result.set_result(result)
            pending.ready.set()
        return batch, None

    def _select_batch(self) -> list[_PendingRequest[Request, Result]]:
        """Return the first waiting request, and all that may join it."""
        batch: list[_PendingRequest[Request, Result]] = []
        for pending in self._pending():
            if not batch or self._can_join(pending.request, [other.request for other in batch]):
                batch.append(pending)
        return batch

    def _pending(self) -> list[_PendingRequest[Request, Result]]:
        with self._guard:
            return list(self._waiting)


def _fail(batch: Iterable[_PendingRequest[Request, Result]], error: BaseException) -> None:
    for pending in batch:
        if not pending.result.done():
            pending.result.set_exception(error)
            pending.ready.set()
