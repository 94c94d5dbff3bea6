"""One case: an auditor who does not give up, and a service that is killed under them."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import httpx2

from api.audits.queue.heartbeats import Heartbeat
from api.db import Store
from api.kernel.failpoints import Failpoint
from openapi.resources import REQUEST
from tests.faults import exchanging, exploring
from tests.faults.exchanging import EXCHANGING, RECORDING, exchanges
from tests.faults.exploring import EXPLORING
from tests.faults.host import Kill, Orders, start
from tests.faults.progress import Progress
from tests.faults.scene import PERSON_CAP, Scene
from tests.faults.snapshot import Seen, Snapshot
from tests.statements import headers
from tests.world import free_port

CANCELLING = (Failpoint.CANCEL_WRITTEN, Failpoint.CANCEL_COMMITTED)
WAITING = (("first", "one"), ("second", "two"), ("first", "three"))
FINAL = ("released", "failed", "cancelled")
KILLED = -9
STUCK_AFTER = 500
ANSWER_SECONDS = 60.0
# Starting a process looks after all others too, and only one may read how another ended.
PROCESSES = threading.Lock()


class GaveUpError(Exception):
    """Something did not happen in time."""


@dataclass
class Case:
    """A copy of the scene, the process that serves it, and all that is seen of it."""

    scene: Scene
    folder: Path
    plan: tuple[Kill, ...]
    mutant: str | None = None
    # Idle polls of a worker: 0.02 s each in this scene, and a lease ends after 0.5 s.
    stuck_after: int = STUCK_AFTER
    violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = Store(self.scene.database_url)
        self.seen = Seen(self.folder / "scored")
        self.shown = self.folder / "shown"
        self.answers = exchanging.Answers({})
        self.token = self.scene.token(self.store)
        self.process: ForkServerProcess | None = None
        self.http = httpx2.Client(timeout=10, verify=False)
        self.embedded_worker = True

    # --- the process

    @property
    def orders(self) -> Orders:
        settings = self.scene.settings | {"embedded_worker": self.embedded_worker}
        return Orders(settings, self.folder, self.plan, self.mutant)

    def start(self) -> None:
        self.port = free_port()
        with PROCESSES:
            self.process = start(self.orders, self.port)

    def stop(self) -> None:
        if self.process is not None:
            with PROCESSES:
                self.process.kill()
                self.process.join()

    def close(self) -> None:
        self.stop()
        self.http.close()
        self.store.close()

    def revive(self) -> None:
        """Called when there was no answer: a process that was killed is started again."""
        assert self.process
        with PROCESSES:
            code = self.process.exitcode
        if code is None:
            time.sleep(0.01)
            return  # it only begins to listen
        if code != KILLED:
            raise GaveUpError(f"the process ended by itself: {code}")
        self.check()
        self.start()

    # --- the auditor

    def call(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """The answer, however often it must be asked for."""
        deadline = time.monotonic() + ANSWER_SECONDS
        sent = {"authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        while time.monotonic() < deadline:
            try:
                url = f"http://127.0.0.1:{self.port}{path}"
                return self.http.request(method, url, headers=sent, **options)
            except httpx2.TransportError:
                self.revive()
        raise GaveUpError(f"no answer to {method} {path}")

    def ask(self, name: str, key: str) -> httpx2.Response:
        """Submit, and take whatever is answered."""
        self.seen.keys.add(key)
        asked = REQUEST.validate_python(self.scene.requests[name])
        signed = headers(self.scene.maker.states("charge", asked, f"the-key-of-{key}"))
        return self.call("POST", "/v1/audits", json=self.scene.requests[name], headers=signed)

    def submit(self, name: str, key: str) -> str:
        answer = self.ask(name, key)
        if answer.status_code != httpx2.codes.ACCEPTED:
            raise GaveUpError(f"submitting was answered {answer.status_code}: {answer.text}")
        audit_id: str = answer.json()["id"]
        self.seen.answers[key].add(audit_id)
        return audit_id

    def wait(self, audit_id: str) -> str:
        progress = Progress(self.folder, self.stuck_after)
        state = "charged"
        while not progress.stuck((state, self.orders.killed)):
            state = str(self.call("GET", f"/v1/audits/{audit_id}").json()["state"])
            if state in FINAL:
                return state
            if any(exploring.contradictions(self.shown)):
                raise GaveUpError(f"{audit_id} was not waited for: it cannot end well")
            time.sleep(0.02)
        raise GaveUpError(f"{audit_id} is stuck: it is {state}")

    def fetch(self, audit_id: str) -> None:
        answer = self.call("GET", f"/v1/audits/{audit_id}/release")
        if answer.status_code != httpx2.codes.OK:
            raise GaveUpError(f"the release was answered {answer.status_code}: {answer.text}")
        self.seen.delivered[audit_id].add(answer.content)

    def audit(self, name: str, key: str) -> None:
        audit_id = self.submit(name, key)
        if (state := self.wait(audit_id)) != "released":
            self.violations.append(f"{audit_id} is {state}, not released")
            return
        for _ in range(2):
            self.fetch(audit_id)

    def cancel(self, name: str, key: str) -> None:
        audit_id = self.submit(name, key)
        answer = self.call("POST", f"/v1/audits/{audit_id}/cancel")
        # Cancelled by the request whose answer was lost, it cannot be cancelled again.
        if answer.status_code not in (httpx2.codes.OK, httpx2.codes.CONFLICT):
            raise GaveUpError(f"cancelling was answered {answer.status_code}: {answer.text}")
        if (state := self.wait(audit_id)) != "cancelled":
            self.violations.append(f"{audit_id} is {state}, not cancelled")

    # --- what happens

    def audits(self) -> None:
        """Two audits to their releases, and both again with the keys they had."""
        self.audit("first", "one")
        self.audit("second", "two")
        self.audit("first", "one")
        self.audit("second", "two")

    def cancels(self) -> None:
        """Two audits cancelled before any worker is there; then a worker, and one that runs."""
        self.embedded_worker = False
        self.cancel("first", "one")
        self.cancel("second", "two")
        self.stop()
        self.embedded_worker = True
        self.start()
        self.audit("first", "three")

    def together(self) -> None:
        """Three audits that wait when a worker comes, as if there were many.

        It is never idle between two of them, and their releases wait for each other.
        """
        audits = [self.submit(name, key) for name, key in WAITING]
        self.stop()
        for _ in range(5):
            Heartbeat(self.store, serves=False, works=True).write_row()
        self.embedded_worker = True
        self.start()
        for audit_id in audits:
            if (state := self.wait(audit_id)) != "released":
                self.violations.append(f"{audit_id} is {state}, not released")
        for name, key in WAITING:
            self.audit(name, key)

    def everything(self) -> None:
        self.audits()
        self.stop()
        self.embedded_worker = False
        self.start()
        self.cancel("first", "three")
        self.stop()
        self.embedded_worker = True
        self.start()
        self.audit("first", "four")

    def explores(self) -> None:
        """An audit that shows people something, and again with the key it had."""
        self.audit("third", "one")
        self.audit("third", "one")
        self.violations += exploring.at_the_end(self.shown)

    # --- what must hold

    def check(self) -> Snapshot:
        snapshot = Snapshot.of(self.store)
        self.violations += snapshot.violations(Fraction(PERSON_CAP))
        self.violations += self.seen.violations(snapshot)
        self.violations += exploring.at_any_moment(self.store, self.shown)
        self.violations += self.answers.violations(self.store)
        return snapshot

    def run(self, scenario: Callable[["Case"], None]) -> list[str]:
        """All violations, none of them twice."""
        try:
            self.embedded_worker = scenario not in (Case.cancels, Case.together)
            self.mutant = "releases_in_threes" if scenario is Case.together else self.mutant
            self.start()
            scenario(self)
        except GaveUpError as error:
            self.violations.append(str(error))
        finally:
            self.stop()
        self.violations += self.check().unfinished()
        self.close()
        return list(dict.fromkeys(self.violations))


Scenario = Callable[[Case], None]


def scenario_of(boundary: Failpoint) -> Scenario:
    """Return the scenario that reaches the boundary."""
    if boundary in EXPLORING:
        return Case.explores
    if boundary in (*EXCHANGING, *RECORDING):
        return exchanges
    return Case.cancels if boundary in CANCELLING else Case.audits
