"""One history: clients at work, faults in between, a quiet end, and the checker's verdict."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import col, func, select

from api.db import AuditRow, CheckpointRow, LedgerEndRow, Store
from api.kernel.settings import load_settings
from tests.faults.progress import Progress
from tests.histories import accounts, answers, ledgers
from tests.histories.client import FINAL
from tests.histories.databases import Database
from tests.histories.deployment import POLL, Deployment, came, deployed, pause
from tests.histories.evidence import Evidence
from tests.histories.faults import Injector
from tests.histories.plan import Breaks, Plan

# Seconds after which an audit that no worker takes up is stuck, if workers look for work: leases
# last one second, and a clock that was ahead makes them last twenty more.
STUCK_SECONDS = 25.0
# Seconds in which no client gets or loses an answer, and seconds of a whole history: more than any
# busy machine needs. Where 30 programs shared two cores, an upload took 150 s.
HANG_SECONDS, LONGEST_SECONDS = 600.0, 3_600.0
# Violations of one history that are printed, and characters of each.
SHOWN, LENGTH = 12, 1_000


@dataclass(frozen=True)
class Outcome:
    """The operations done, and the violations found."""

    name: str
    operations: int
    effects: Mapping[Breaks, int]
    violations: list[str]
    seconds: float
    without_effect: tuple[Breaks, ...] = ()

    @property
    def faults(self) -> int:
        """Return the number of faults that took effect."""
        return sum(self.effects.values())

    def __str__(self) -> str:
        verdict = "all holds" if not self.violations else f"{len(self.violations)} VIOLATIONS"
        lines = [
            f"{self.name}: {self.operations} operations, {self.faults} faults, {verdict},"
            f" {self.seconds:.0f} s",
            *(f"  without effect: {each}" for each in self.without_effect),
            *(f"  {each[:LENGTH]}" for each in self.violations[:SHOWN]),
        ]
        return "\n".join(lines)


def run(
    name: str,
    folder: Path,
    database: Database,
    plan: Plan,
    mistake: str | None = None,
    stuck_seconds: float = STUCK_SECONDS,
) -> Outcome:
    """Run one history and check it."""
    began = time.monotonic()
    with deployed(folder, database, mistake) as deployment:
        deployment.enrol(plan, mistake)
        history = _History(name, deployment, plan, stuck_seconds)
        try:
            history.play()
        except TimeoutError as error:
            history.violations.append(str(error))
        history.check()
    seconds = time.monotonic() - began
    found = list(dict.fromkeys(history.violations))
    effects = history.injector.effects
    idle = tuple(dict.fromkeys(f.breaks for f in plan.faults if not effects[f.breaks]))
    return Outcome(name, history.operations, effects, found, seconds, idle)


class _History:
    def __init__(self, name: str, deployment: Deployment, plan: Plan, stuck_seconds: float) -> None:
        self._name, self._on, self._plan = name, deployment, plan
        workers = len(deployment.workers) + len(deployment.servers) * (
            deployment.database.embedded_worker
        )
        self._stuck_after = round(stuck_seconds / POLL * workers)
        self.injector = Injector(deployment)
        self.violations: list[str] = []
        self.operations = 0
        self._began = time.monotonic()

    def play(self) -> None:
        """Open phase after phase, with a fault in each; then wait until everything is over."""
        for child in self._on.clients:
            child.start()
        in_a_phase = self._plan.each * self._plan.clients
        for phase, fault in enumerate(self._plan.faults):
            self._open(str(phase))
            due = round((phase + fault.after) * in_a_phase)
            self._wait_for(due)
            began = time.monotonic()
            effects = self.injector.inject(fault)
            lasted = time.monotonic() - began
            print(
                f"{self._name}: after {due} operations: {fault.breaks}: {effects} effects,"
                f" {lasted:.1f} s",
                flush=True,
            )
        total = len(self._plan.faults) * in_a_phase
        self._wait_for(total)
        self._drain()
        self._open(FINAL)
        self._wait_for(None)

    def check(self) -> None:
        """Judge the history by everything that is left of it."""
        settings = load_settings(self._on.folder / "settings.toml")
        store = Store(self._on.database.url)
        try:
            came(lambda: _is_signed(store), 20)
            evidence = Evidence.read(self._on.histories, store)
            self.operations = evidence.operations
            print(f"{self._name}: {evidence}", flush=True)
            self.violations += answers.violations(evidence)
            self.violations += accounts.violations(evidence, store, settings)
            self.violations += ledgers.violations(evidence, self._on)
        finally:
            store.close()
        self.violations += self._unexpected_ends()

    def _open(self, phase: str) -> None:
        new = self._on.folder / "phase.new"
        new.write_text(phase)
        new.rename(self._on.folder / "phase")

    def _wait_for(self, operations: int | None) -> None:
        """Wait until clients have this many answers, or have ended; raise if they hang."""
        seen, since = (-1, -1), time.monotonic()
        while not self._reached(operations):
            counter = self._on.counter
            if (now := (counter.answered, counter.lost)) != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > HANG_SECONDS:
                raise TimeoutError(f"clients hang after {counter.answered} operations")
            if time.monotonic() - self._began > LONGEST_SECONDS:
                raise TimeoutError(f"clients get no further than {counter.answered} operations")
            pause(0.02)

    def _reached(self, operations: int | None) -> bool:
        codes = [child.exit_code for child in self._on.clients]
        if any(code not in (None, 0) for code in codes):
            raise TimeoutError("a client ended too early")
        if operations is None:
            return None not in codes
        return self._on.counter.answered >= operations

    def _drain(self) -> None:
        """Wait until every audit is over, or workers find nothing to do though one is not."""
        store = Store(self._on.database.url)
        progress = Progress(self._on.folder, self._stuck_after)
        try:
            while (waiting := _unfinished(store)) and not progress.stuck(waiting):
                pause(0.05)
        finally:
            store.close()

    def _unexpected_ends(self) -> Iterator[str]:
        for child in self._on.clients:
            if child.exit_code != 0:
                log = (self._on.folder / f"log-{child.name}").read_text()[-600:]
                yield f"{child.name} ended with {child.exit_code}: {log}"
        for child in self._on.services:
            if child.exit_code is not None:
                yield f"{child.name} ended by itself with {child.exit_code}"


def _unfinished(store: Store) -> tuple[str, ...]:
    over = ("released", "failed", "cancelled")
    with store.read() as session:
        query = select(AuditRow.id).where(col(AuditRow.state).not_in(over))
        return tuple(session.exec(query.order_by(col(AuditRow.id))))


def _is_signed(store: Store) -> bool:
    with store.read() as session:
        newest = session.exec(select(func.max(CheckpointRow.size))).one()
        return bool(newest == session.exec(select(LedgerEndRow)).one().size)
