"""Faults, injected into a deployment that is at work, and healed when they have had an effect.

Waits follow progress: a fault stays until clients have noticed it or have gone on without it. Each
wait also has a limit, because a fault may hit a moment in which nobody needs what is broken.
"""

import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import psycopg

from tests.histories.children import Child
from tests.histories.databases import PostgreSQL
from tests.histories.deployment import LEASE, Deployment, came, pause
from tests.histories.plan import Breaks, Fault
from tests.histories.proxy import Cut

# Seconds that a fault waits for clients to go on, and for them to lose an answer, at most.
LIMIT, LOSS_LIMIT = 15.0, 3.0
# Seconds by which clocks are set; tokens and assertions bear 30.
STEPS = (-20.0, -8.0, 8.0, 20.0)
# Bytes beyond which no file may be written, or None: the SQLite file itself cannot grow.
FILE_LIMITS = (0, 20_000, None)
PAID = b"POST /v1/audits "
CHANGES = (PAID, PAID, b"POST /v1/audits/audit_", b"DELETE ", b"POST /v1/contents", PAID)
DROPS = 3


class Injector:
    """Breaks a deployment as a fault says, and counts how often it really did.

    A process that was killed or stopped, and a clock that was set, is one effect. Elsewhere every
    answer that was cut, connection that was dropped or write that failed is one.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._on = deployment
        self.effects = Counter[Breaks]()

    @property
    def injected(self) -> int:
        return self.effects.total()

    def inject(self, fault: Fault) -> int:
        """Inject the fault and heal it; return its effects. Every process runs afterwards."""
        effects = self._actions()[fault.breaks](fault)
        self.effects[fault.breaks] += effects
        return effects

    def _actions(self) -> dict[Breaks, Callable[[Fault], int]]:
        return {
            Breaks.KILL_SERVER: self._kill_server,
            Breaks.KILL_WORKER: self._kill_worker,
            Breaks.KILL_AT_WORK: self._kill_at_work,
            Breaks.STOP_AT_WORK: self._stop_at_work,
            Breaks.STOP_SERVER: self._stop_server,
            Breaks.HANG_PLATFORM: self._hang_platform,
            Breaks.CLOCK_OF_ALL: self._step_clocks,
            Breaks.CLOCK_OF_ONE: self._step_clocks,
            Breaks.FULL_DISK: self._fill_disk,
            Breaks.LOSE_ANSWERS: self._lose_answers,
            Breaks.CUT_ANSWERS: self._lose_answers,
            Breaks.KILL_CLIENT: self._kill_client,
            Breaks.DROP_CONNECTIONS: self._drop_connections,
            Breaks.RESTART_FAST: self._restart,
            Breaks.RESTART_IMMEDIATE: self._restart,
        }

    # --- processes

    def _kill_server(self, fault: Fault) -> int:
        return self._kill(_picked(self._on.servers, fault), lambda: self._noticed(1))

    def _kill_worker(self, fault: Fault) -> int:
        return self._kill(_picked(self._on.workers, fault), lambda: self._moved(8))

    def _kill_at_work(self, fault: Fault) -> int:
        held = self._held(fault)
        if held is None:
            self._let_go()
            return 0
        return self._kill(held, lambda: self._moved(2), let_go=True)

    def _kill_client(self, fault: Fault) -> int:
        client = _picked(self._on.clients, fault)
        at_work = client.exit_code is None
        client.kill()
        client.start()
        return int(at_work)

    def _kill(
        self, child: Child, effect: Callable[[], Callable[[], bool]], *, let_go: bool = False
    ) -> int:
        effective = effect()
        alive = child.exit_code is None
        child.kill()
        if let_go:
            self._let_go()
        came(effective, LIMIT)
        child.start()
        self._on.wait_for(child)
        return int(alive)

    def _stop_at_work(self, fault: Fault) -> int:
        """Stop a process until its lease is over and another may have its audit; then go on."""
        held = self._held(fault)
        if held is None:
            self._let_go()
            return 0
        return self._stop(held)

    def _stop_server(self, fault: Fault) -> int:
        return self._stop(_picked(self._on.servers, fault))

    def _stop(self, child: Child) -> int:
        child.stop()
        self._let_go()
        try:
            pause(2 * LEASE)
        finally:
            child.go_on()
        return 1

    def _held(self, fault: Fault) -> Child | None:
        """Return a process that is in the middle of scoring; None if none gets there."""
        self._forget_held()
        # Most of what is left of a phase: somebody submits then, unless budgets are used up.
        moved = self._moved(18)
        (self._on.folder / "hold").touch()
        came(lambda: any(self._on.folder.glob("held-*")) or moved(), LIMIT)
        held = {int(mark.name.split("-")[1]) for mark in self._on.folder.glob("held-*")}
        at_work = [child for child in self._on.services if child.pid in held]
        return _picked(at_work, fault) if at_work else None

    def _forget_held(self) -> None:
        for mark in self._on.folder.glob("held-*"):
            mark.unlink()

    def _let_go(self) -> None:
        (self._on.folder / "hold").unlink(missing_ok=True)

    # --- what is around them

    def _hang_platform(self, _: Fault) -> int:
        """Let audits wait: what is charged meanwhile can still be cancelled."""
        self._forget_held()
        moved = self._moved(10)
        (self._on.folder / "hold").touch()
        came(moved, LIMIT)
        hung = len(list(self._on.folder.glob("held-*")))
        self._let_go()
        return hung

    def _step_clocks(self, fault: Fault) -> int:
        one = fault.breaks is Breaks.CLOCK_OF_ONE
        whose = [_picked(self._on.services, fault)] if one else self._on.services
        moved = self._moved(6)
        for child in whose:
            child.set_clock(STEPS[int(fault.pick * 97) % len(STEPS)])
        came(moved, LIMIT)
        for child in whose:
            child.set_clock(0)
        return len(whose)

    def _fill_disk(self, fault: Fault) -> int:
        """Count the answers that clients lost meanwhile, each to a write that failed."""
        before, noticed = self._on.counter.lost, self._lost(3)
        database = self._on.database
        if isinstance(database, PostgreSQL):
            try:
                database.fill_disk()
                came(noticed, LOSS_LIMIT)
            finally:
                database.free_disk()
        else:
            self._fill_files(FILE_LIMITS[int(fault.pick * 97) % len(FILE_LIMITS)], noticed)
        return self._on.counter.lost - before

    def _fill_files(self, size: int | None, noticed: Callable[[], bool]) -> None:
        full = self._on.folder / "full"
        if size is None:
            full.touch()
        for child in self._on.services:
            child.limit_files(size)
        came(noticed, LOSS_LIMIT)
        for child in self._on.services:
            child.limit_files(None)
        full.unlink(missing_ok=True)

    def _lose_answers(self, fault: Fault) -> int:
        before, half = self._on.proxy.cut, fault.breaks is Breaks.CUT_ANSWERS
        self._on.proxy.lose(*(Cut(each, half) for each in CHANGES))
        done = self._moved(10)
        came(lambda: self._on.proxy.cut - before == len(CHANGES) or done(), LIMIT)
        self._on.proxy.lose()
        return self._on.proxy.cut - before

    def _drop_connections(self, _: Fault) -> int:
        dropped = 0
        for _again in range(DROPS):
            moved = self._moved(2)
            with suppress(psycopg.OperationalError):
                dropped += self._postgresql.drop_connections()
            came(moved, LIMIT)
        return dropped

    def _restart(self, fault: Fault) -> int:
        immediate = fault.breaks is Breaks.RESTART_IMMEDIATE
        noticed = self._lost(2)
        self._postgresql.stop(signal.SIGQUIT if immediate else signal.SIGINT)
        came(noticed, LOSS_LIMIT)
        self._postgresql.start()
        return 1

    @property
    def _postgresql(self) -> PostgreSQL:
        assert isinstance(self._on.database, PostgreSQL)
        return self._on.database

    # --- progress

    def _moved(self, operations: int) -> Callable[[], bool]:
        """Return a question: have clients got this many more answers?"""
        counter = self._on.counter
        before = counter.answered
        return lambda: counter.answered - before >= operations

    def _lost(self, losses: int) -> Callable[[], bool]:
        """Return a question: did clients lose this many answers?"""
        counter = self._on.counter
        before = counter.lost
        return lambda: counter.lost - before >= losses

    def _noticed(self, losses: int) -> Callable[[], bool]:
        """Return a question: did clients lose this many answers, or go on without any loss?"""
        lost, moved = self._lost(losses), self._moved(8)
        return lambda: lost() or moved()


def _picked(children: list[Child], fault: Fault) -> Child:
    return children[int(fault.pick * len(children))]
