"""A two-party audit of a hidden audience, with either side killed at any of its messages.

Both speak as they always do: the auditor by the SDK's own loop. Whatever was killed, there is one
charge, one answer, and no secret on any disk.
"""

import os
import signal
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
import pyarrow as pa
from sqlalchemy import text
from sqlmodel import col, select

from api.db import MessageRow, RunRow, Store
from api.kernel.failpoints import Failpoint
from api.platforms.interfaces import Persons
from auditor_client.errors import BeginAgainError, ProblemError
from auditor_client.kinds.two_party.exchange import converse
from auditor_client.transport.http_client import Transport
from openapi.resources import TwoPartyRun
from privacy.commitment import username_tokens
from privacy.two_party import AuditorParty, RunTerms, sealing_key_of
from privacy.two_party.private_set_intersection import Blinding
from tests.faults.told import Told, live_in

if TYPE_CHECKING:
    from tests.faults.case import Case

# What no other audit reaches, and what this one shares with all, inside of its last message.
EXCHANGING = (Failpoint.MESSAGE_RECEIVED, Failpoint.MESSAGE_ANSWERED)
# Reached once in a run.
RECORDING = (Failpoint.PEOPLE_RECORDED,)
SHARED = (
    Failpoint.CLAIMED,
    Failpoint.REDUCED,
    Failpoint.NOISED,
    Failpoint.RELEASE_WRITTEN,
    Failpoint.RELEASE_COMMITTED,
)
# HELLO, KEY, BLINDED, REBLINDED, PROOF, WEIGHTS and ASK.
EXCHANGES = 7
PEOPLE, STRANGERS, CANDIDATES, GROUPS, SCALE = 20, 5, 100, 2, 10
# Runs of the SDK's loop: each begins anew a few times by itself.
LOOPS = 10


def names(first: int, last: int) -> list[str]:
    return [f"person {number}" for number in range(first, last)]


# Some of the platform's people, and some whom it does not know.
ROWS = names(0, PEOPLE) + names(1_000, 1_000 + STRANGERS)
HIDDEN = {
    "identifiers": "username",
    "rows": len(ROWS),
    "commitment": "sha256:" + sha256(b"a hidden audience").hexdigest(),
}


def asked(content_id: str, audience_id: str) -> dict[str, Any]:
    bins = {"edges": [0, 0.5, 1]}
    return {
        "kind": "two-party",
        "audience_id": audience_id,
        "metric": {"name": "score-histogram", "content_id": content_id, "bins": bins},
        "hidden_groups": GROUPS,
        "weight_scale": SCALE,
        "epsilon": "0.1",
    }


class TinyDirectory:
    """The same people always, by their user names."""

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        return np.arange(90, dtype=np.int64), pa.array(names(0, 90))


# --- the auditor


def party_of(transport: Transport, audit_id: str, told: Told) -> AuditorParty:
    """With fresh keys."""
    stated = transport.get(f"/v1/audits/{audit_id}/exchange", TwoPartyRun)
    terms = RunTerms.from_json(stated.terms.encode())
    key = sealing_key_of(urlsafe_b64decode(stated.regulator_jwk["x"] + "=="))
    weights = np.tile(np.array([SCALE, 0], np.int64), (terms.rows, 1))
    tokens = username_tokens(ROWS)
    return told.tell_of(AuditorParty(terms, weights, regulator_key=key, tokens=tokens))


class Patient(Transport):
    """Sends by a case, which starts a service again that was killed."""

    def __init__(self, case: "Case") -> None:
        super().__init__("http://127.0.0.1")
        self.case = case

    def once(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self.case.call(method, path, **options)


class Mortal(Transport):
    """An exchange whose process is killed before its `number`-th message is sent, or when
    answered.
    """

    def __init__(self, dying: "Dying") -> None:
        super().__init__(dying.url)
        self.dying, self.sent = dying, 0

    def once(self, method: str, path: str, **options: Any) -> httpx2.Response:
        self.sent += method == "POST"
        due = method == "POST" and self.sent == self.dying.number
        if due and not self.dying.answered:
            self.dying.die()
        headers = {"authorization": f"Bearer {self.dying.token}", **options.pop("headers", {})}
        response = super().once(method, path, headers=headers, **options)
        if due:
            self.dying.die()
        return response


def conversed(case: "Case", audit_id: str) -> AuditorParty:
    transport, told = Patient(case), Told(case.folder)
    for _ in range(LOOPS):
        try:
            begin = lambda: party_of(transport, audit_id, told)  # noqa: E731
            return converse(transport, audit_id, begin, progress=False)
        except BeginAgainError:
            continue
    raise AssertionError("the run does not end")


def exchanges(case: "Case") -> None:
    """Run an audit to its sums despite kills; then a second, refused run, and its release."""
    audit_id = case.submit("hidden", "one")
    party = conversed(case, audit_id)
    if np.abs(party.sums.astype(float)).max() > SCALE * (PEOPLE + 64 / 0.05):
        case.violations.append("the sums are not what was asked for")
    finish(case, audit_id)


def finish(case: "Case", audit_id: str) -> None:
    """Check that there is one answer, even if a party asks again."""
    try:
        conversed(case, audit_id)
        case.violations.append("a second run was answered on one charge")
    except ProblemError as error:
        if error.code != "message-refused":
            case.violations.append(f"a second run was refused as {error.code}")
    if case.submit("hidden", "one") != audit_id or case.wait(audit_id) != "released":
        case.violations.append("the audit is not the one that was released")
    for _ in range(2):
        case.fetch(audit_id)
    case.violations += list(at_the_end(case))


# --- auditors that die


@dataclass(frozen=True)
class Dying:
    """The instructions for an auditor's process."""

    url: str
    token: str
    audit_id: str
    folder: Path
    number: int
    answered: bool

    @property
    def grave(self) -> Path:
        """A file that is there once the process is about to be killed: its parent may not hear."""
        return self.folder / f"killed-{self.number}-{self.answered}"

    def die(self) -> None:
        self.grave.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def live(dying: Dying) -> None:
    """Until the message at which it ends."""
    live_in(dying.folder)
    os.environ["HOME"] = str(dying.folder)
    transport = Mortal(dying)
    begin = lambda: party_of(transport, dying.audit_id, Told(dying.folder))  # noqa: E731
    converse(transport, dying.audit_id, begin, progress=False)


def auditors_die(case: "Case") -> None:
    """One auditor after the other, at every message, on one charge; the last one is answered."""
    audit_id = case.submit("hidden", "one")
    case.call("GET", f"/v1/audits/{audit_id}")
    context = get_context("forkserver")
    for number in range(1, EXCHANGES + 1):
        for answered in (False, True):
            url = f"http://127.0.0.1:{case.port}"
            dying = Dying(url, case.token, audit_id, case.folder, number, answered)
            process = context.Process(target=live, args=(dying,), daemon=True)
            process.start()
            process.join()
            if not _comes(dying.grave):
                case.violations.append(f"an auditor ended by itself: {process.exitcode}")
            case.check()
    finish(case, audit_id)


def _comes(file: Path, seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return file.exists()


# --- what must hold


@dataclass
class Answers:
    """The stored answer to each audit, when it was first read."""

    kept: dict[str, bytes]

    def violations(self, store: Store) -> Iterator[str]:
        with store.read() as session:
            runs = {run.audit_id: run for run in session.exec(select(RunRow))}
            rows = session.exec(
                select(MessageRow).order_by(col(MessageRow.audit_id), col(MessageRow.number))
            ).all()
        for audit_id, run in runs.items():
            bodies = [row.body for row in rows if row.audit_id == audit_id]
            if (run.answered_at is None) != (not bodies):
                yield f"{audit_id} has {len(bodies)} messages, answered: {run.answered_at}"
            made = sha256(b"".join(bodies)).digest()
            if self.kept.setdefault(audit_id, made) != made and bodies:
                yield f"{audit_id} was answered 2 ways"
            if not bodies:
                del self.kept[audit_id]


def at_the_end(case: "Case") -> Iterator[str]:
    """One answer in the ledger, and no secret anywhere."""
    snapshot = case.check()
    answers, charges = snapshot.facts("answer"), snapshot.facts("charge")
    if len(answers) != 1 or len(charges) != 1:
        yield f"{len(answers)} answers to {len(charges)} charges"
    told = Told(case.folder)
    yield from told.violations(case.store)
    with case.store.read() as session:
        last = session.exec(select(MessageRow).order_by(col(MessageRow.number).desc())).first()
    if last is None or not told.holds(case.store, last.body) or not told.all():
        yield "the search for secrets finds nothing at all"


# --- mistakes that must be found


def answers_are_forgotten(settings: dict[str, Any]) -> None:
    """After a restart no run was answered."""
    store = Store(settings["database_url"])
    with store.write() as session:
        session.execute(text("DELETE FROM two_party_messages"))
        session.execute(text("UPDATE two_party_runs SET answered_at = NULL"))
        session.execute(text("UPDATE audits SET state = 'charged' WHERE state = 'running'"))
    store.close()


def scalars_are_logged(_: dict[str, Any]) -> None:
    """The blinding scalars are printed, and so appear in the log."""
    whole = Blinding.of_points

    def shown(blinding: Blinding, points: bytes) -> bytes:
        print("blinding with", blinding._secret().hex(), flush=True)
        return whole(blinding, points)

    setattr(Blinding, "of_points", shown)  # noqa: B010  (mypy knows it as a method)


MUTANTS = {mutant.__name__: mutant for mutant in (answers_are_forgotten, scalars_are_logged)}
