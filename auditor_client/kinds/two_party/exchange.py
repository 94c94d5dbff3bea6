"""The auditor's side of an exchange: messages in turn, until the sums are decrypted.

Only this process holds the key. After a broken connection, the client sends the last message again.
If the service lost a run, the client starts another on the same charge, with a new key. After a run
is answered, no other run is possible: this process must stay alive until the delivery.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from auditor_client.errors import BeginAgainError, ContractError, NotReleasedError, ProfileError
from auditor_client.local.audience_records import IDENTIFIER
from auditor_client.local.private_files import home, write_private
from auditor_client.local.progress import Bar, bar
from auditor_client.transport.http_client import Transport

if TYPE_CHECKING:
    from privacy.two_party import AuditorParty

PATH = "/v1/audits/{}/exchange"
BYTES = {"content-type": "application/octet-stream"}
RUNS = 5
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 30.0


@dataclass(frozen=True)
class KeptSums:
    """Decrypted integers by group and cell, with the digest of their transcript; kept on this
    machine only.
    """

    groups: tuple[str, ...]
    sums: list[list[int]]
    transcript: str

    def save(self, audit_id: str) -> None:
        content = {
            "groups": list(self.groups),
            "sums": [[str(cell) for cell in row] for row in self.sums],
            "transcript": self.transcript,
        }
        write_private(_path(audit_id), json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def load_sums(audit_id: str) -> KeptSums | None:
    """Return the sums of an audit; return None if it did not run on this machine."""
    path = _path(audit_id)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        sums = [[int(cell) for cell in row] for row in content["sums"]]
        return KeptSums(tuple(content["groups"]), sums, content["transcript"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProfileError(f"The sums in {path} cannot be read.") from error


def converse(
    transport: Transport,
    audit_id: str,
    begin: Callable[[], "AuditorParty"],
    *,
    awaited: Callable[[], str] = lambda: "the regulator",
    progress: bool = True,
    patience: float | None = None,
) -> "AuditorParty":
    """Run the protocol to its end; `begin` makes a party with fresh keys.

    `awaited` names the regulator who must open a run that was drawn for opening.
    """
    host = urlsplit(transport.url).netloc
    with bar(
        f"Exchanging encrypted messages with {host} for {audit_id}", show=progress
    ) as progress_bar:
        for run in range(RUNS):
            party = begin()
            try:
                return _converse(
                    _Exchange(transport, audit_id, progress_bar, awaited, patience), party
                )
            except BeginAgainError:
                if run == RUNS - 1:
                    raise
    raise AssertionError("the last run returns or raises")


@dataclass(frozen=True)
class _Exchange:
    """Exchange of one audit's messages with the service, and its progress display."""

    transport: Transport
    audit_id: str
    progress_bar: Bar
    awaited: Callable[[], str]
    patience: float | None

    def deliver(self, message: bytes) -> bytes:
        """Return the answer to a message; repeat the request until the regulator has opened the
        run.
        """
        until = None if self.patience is None else time.monotonic() + self.patience
        pause = SHORTEST_WAIT
        while True:
            try:
                return self._post(message)
            except NotReleasedError:
                self._say_awaited()
                if until is not None and time.monotonic() + pause > until:
                    raise
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_WAIT)

    def _post(self, message: bytes) -> bytes:
        path = PATH.format(self.audit_id)
        answer = self.transport.send(
            "POST", path, retry_idempotently=True, content=message, headers=BYTES
        )
        content: bytes = answer.content
        return content

    def _say_awaited(self) -> None:
        self.progress_bar.say(
            f"Waiting for {self.awaited()} to open {self.audit_id}, with: auditor "
            f"regulator open {self.audit_id}. Keep this process running: only its memory "
            "holds the key of the run, without which nobody can read the sums"
        )


def _converse(exchange: _Exchange, party: "AuditorParty") -> "AuditorParty":
    host = urlsplit(exchange.transport.url).netloc
    message: bytes | None = party.start()
    while message is not None:
        exchange.progress_bar.say(
            f"Exchanging encrypted messages with {host} for {exchange.audit_id}",
            f": {party.number} of {party.messages_expected}",
        )
        message = party.receive(exchange.deliver(message))
    return party


def integers(party: "AuditorParty") -> list[list[int]]:
    """Return the sums of a finished party."""
    table: Any = party.sums
    if table is None:
        raise ContractError("The run has not ended.")
    return [[int(cell) for cell in row] for row in table]


def _path(audit_id: str) -> Any:
    if not IDENTIFIER.fullmatch(audit_id):
        raise ProfileError(f"{audit_id!r} is not an identifier of an audit.")
    return home() / "sums" / f"{audit_id}.json"
