"""A client process: a researcher who carries out a plan with the SDK, and does not give up.

Everything the client does is in its history before it is sent. Killed and started again, it reads
the history and repeats what has no answer: a submission with the key that it had. Some clients
leave the keys to the SDK, whose records of pending audits have to find them again.
"""

import os
import random
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey

from auditor_client import Auditor
from auditor_client.errors import (
    AuthenticationError,
    ConnectionBrokenError,
    PartsLostError,
    ProblemError,
    TrustError,
)
from auditor_client.transport.retries import Retries
from tests.histories import history
from tests.histories.belongings import Asked, Belongings
from tests.histories.history import Journal
from tests.histories.mistakes import OF_CLIENTS
from tests.histories.operations import Operations
from tests.histories.plan import Does, Operation

BUSY = 429
FAILED = 500
# Seconds between two tries, at most.
PAUSE = 0.2
# The last phase: everything is well again and every audit is over.
FINAL = "final"


@dataclass(frozen=True)
class Researcher:
    """The identity of a client, and the keys with which it checks the ledger."""

    name: str
    researcher_id: str
    key: dict[str, Any]
    url: str
    regulator: tuple[str, dict[str, Any]]
    keyless: bool  # the SDK's records keep the keys


def run(
    folder: Path,
    name: str,
    who: Researcher,
    plan: tuple[Operation, ...],
    each: int,
    mistake: str | None,
) -> None:
    """Carry out the plan, phase by phase, from where the history ends."""
    os.environ["PLATFORM_AUDITOR_HOME"] = str(folder / f"home-{name}")
    if mistake in OF_CLIENTS:
        OF_CLIENTS[mistake](folder)
    # The service may ask for more seconds than a fault lasts: the client decides itself.
    retries = Retries(attempts=2, first_wait=0.02, patience=0)
    key = OKPKey.import_key(who.key)
    pending = folder / f"pending-{name}"
    with Auditor(who.url, who.researcher_id, key, retries=retries, pending=pending) as auditor:
        belongings = Belongings(name, keyless=who.keyless)
        client = Client(folder, name, Operations(auditor, who.regulator), belongings)
        client.carry_out(plan, each)
        client.look_at_everything(len(plan))


class Client:
    """A plan, what of it is done, and what the client has by now."""

    def __init__(
        self, folder: Path, name: str, operations: Operations, belongings: Belongings
    ) -> None:
        path = folder / f"history-{name}"
        self._phase = folder / "phase"
        self._operations, self._has = operations, belongings
        self._pending: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        for event in history.read(path):
            self._recall(event)
        self._journal = Journal(path, name)

    def carry_out(self, plan: tuple[Operation, ...], each: int) -> None:
        for number, operation in enumerate(plan):
            if number not in self._done:
                self._wait_for(number // each)
                asked = self._pending.get(number)
                asked = asked or self._has.choose(operation.does, operation.pick, number)
                self._do(number, asked.pop("does", operation.does), asked)

    def look_at_everything(self, number: int) -> None:
        """Read every release that colleagues and it have, and repeat every submission."""
        self._wait_for(None)
        self._do(number, Does.LIST, {})
        numbers = count(number + 1)
        for audit_id in list(self._has.audits):
            self._do(next(numbers), Does.FETCH, {"audit_id": audit_id})
        for key, request in list(self._has.submitted.items()):
            self._do(next(numbers), Does.SUBMIT_AGAIN, {"key": key, "request": request})
        self._do(next(numbers), Does.HEAD, {})

    def _do(self, number: int, does: Does, asked: Asked) -> None:
        """Try until there is an answer, whether it is good or bad."""

        def begun(audience_id: str) -> None:
            asked["resume"] = audience_id
            self._journal.write(number, does, "begun", resume=audience_id)

        while True:
            self._journal.write(number, does, "sent", **asked)
            try:
                with self._operations.until_written():
                    said = self._operations.perform(does, asked, begun)
                    self._journal.write(number, does, "done", **said)
            except TrustError as error:
                self._journal.write(number, does, "refused", code="distrust", why=str(error))
                return
            except (ConnectionBrokenError, ProblemError) as error:
                if isinstance(error, ProblemError) and not _is_unknown(error):
                    self._journal.write(number, does, "refused", code=error.code)
                    return
                code = error.code if isinstance(error, ProblemError) else "connection"
                self._journal.write(number, does, "lost", code=code, why=str(error)[:200])
            else:
                self._has.learn(does, asked, said)
                return
            time.sleep(random.uniform(0.1, 1) * PAUSE)

    def _recall(self, event: history.Event) -> None:
        """Learn from the history what an earlier process of this client did."""
        match event.what:
            case "sent":
                self._pending[event.number] = {**event.said, "does": Does(event.does)}
            case "begun":
                self._pending[event.number] |= event.said
            case "done" | "refused":
                asked = self._pending.pop(event.number)
                self._done.add(event.number)
                if event.what == "done":
                    self._has.learn(Does(event.does), asked, event.said)

    def _wait_for(self, phase: int | None) -> None:
        """Wait until the phase has begun; None is the last one."""
        while True:
            text = self._phase.read_text() if self._phase.exists() else "-1"
            if text == FINAL or (phase is not None and int(text) >= phase):
                return
            time.sleep(0.03)


def _is_unknown(error: ProblemError) -> bool:
    """Whether to try again.

    After overload, failures, a token that a clock step made invalid, and parts of an audience whose
    process ended before it had matched them. The service accepts parts before it matches them, and
    tells who seals the audience which of them to send again.
    """
    if error.status == BUSY or error.status >= FAILED:
        return True
    return isinstance(error, AuthenticationError | PartsLostError)
