"""Shared parts of commands that charge: they resume, and report the state after an interruption."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, NoReturn

import typer

from auditor_client.auditor import Auditor
from auditor_client.errors import AuditorError
from auditor_client.kinds.registry import auditor_kind
from auditor_client.local.pending_claims import Claim

New = Annotated[
    bool,
    typer.Option(
        "--new",
        help="Start and pay for another audit. Without this option, a command that was "
        "interrupted before it showed its result continues, and is charged once. A "
        "command that has shown its result is complete. Running it again starts another "
        "audit, with another charge.",
    ),
]
INTERRUPTED, TERMINATED = 130, 143


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end (SIGTERM)."""


@contextmanager
def charging(profile: str) -> Iterator[Auditor]:
    """Connect with a profile; mark charged audits as delivered when the block ends without an
    error.
    """
    with exit_on_sigterm(), Auditor.from_profile(profile) as auditor:
        try:
            with auditor.audits.until_saved():
                yield auditor
                sys.stdout.flush()
        except KeyboardInterrupt as stop:
            for words in left_words(auditor, profile):
                print(words, file=sys.stderr, flush=True)
            raise exit_for(stop) from stop
        except (BrokenPipeError, SystemExit):  # nobody reads the result that was paid
            for claim in auditor.pending.left:
                print(*_words(claim, profile), sep="\n", file=sys.stderr, flush=True)
            raise
        except AuditorError as error:
            for claim in auditor.pending.left:
                if claim.record.audit_id is not None:
                    error.add_note(" ".join(_charged_words(claim, profile)))
            raise


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that a command can report the state that it leaves."""

    def stop(_: int, __: FrameType | None) -> NoReturn:
        raise TerminatedError

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_for(stop: KeyboardInterrupt) -> typer.Exit:
    """Return the exit of a command that a signal ended: 128 plus the signal's number."""
    return typer.Exit(TERMINATED if isinstance(stop, TerminatedError) else INTERRUPTED)


def left_words(auditor: Auditor, profile: str) -> list[str]:
    """Return sentences about the charge, the running audit, and how to fetch its result."""
    claims = [claim for claim in auditor.pending.left if claim.record.sent]
    if not claims:
        return ["Interrupted. This command charged nothing."]
    return ["Interrupted.", *(line for claim in claims for line in _words(claim, profile))]


def _words(claim: Claim, profile: str) -> list[str]:
    if claim.record.audit_id is not None:
        return _charged_words(claim, profile)
    return [
        "The request was sent, and no answer has arrived: the audit may have been charged.",
        "Run the same command again: it continues the same audit, and is charged once.",
    ]


def _charged_words(claim: Claim, profile: str) -> list[str]:
    record = claim.record
    charged = f"Charged: {record.charged}."
    again = "Or run the same command again: it continues without another charge."
    kind = (record.request or {}).get("kind")
    if kind and auditor_kind(kind).decrypted_here:
        return [
            charged,
            "Run the same command again: it continues on the same charge.",
            "If the platform has already answered, the sums are lost: only this process "
            "could decrypt them.",
        ]
    return [
        f"{charged} The audit continues at the service.",
        f"To fetch it: auditor audit show {record.audit_id} --profile {profile}",
        again,
    ]
