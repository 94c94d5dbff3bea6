"""Construction of forgeries, by anybody with a file, or by the platform with its own keys.

`resigned` is the platform: it hashes and signs everything anew, and others' signatures stop it.
What is expected is written by hand, not taken from the verifier.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from privacy.receipts import canonical
from tests.ledgers import (
    Ledger,
    head,
    header,
)
from tests.vectors.ledger.honest import FIRST, SECOND, Honest

ROOT = "another-root"
UNTRUSTED = "untrusted-checkpoint"
UNSIGNED = "wrong-signature"


class Bad(NamedTuple):
    """The bad lines, the first bad entry, and the case of the refusal."""

    lines: Sequence[bytes]
    entry: int | None
    case: str
    seen: Sequence[str] = ()
    witnessed: Sequence[str] = ()


Lie = Callable[[Honest], Bad]


def resigned(lines: Sequence[bytes]) -> list[bytes]:
    """An export of any lines, under heads that hand the key on as they must, and that draw."""
    handed = [n for n, line in enumerate(lines, 1) if b'"purpose":"ledger"' in line]
    answered = [n for n, line in enumerate(lines, 1) if b'"kind":"answer"' in line]
    notes = [head(lines[:size], FIRST, SECOND) for size in handed]
    notes += [head(lines[:size], SECOND) for size in answered if size < len(lines)]
    newest = head(lines, SECOND if handed else FIRST)
    return [header(len(lines), [*notes, newest]), *lines]


def going_on(honest: Honest, place: str, after: int = 1) -> Ledger:
    """The ledger as it was just after that entry, for the platform to go on as it likes."""
    lines = honest.ledger.lines[: honest.places[place] + after]
    at = datetime.fromisoformat(json.loads(lines[-1])["at"])
    return Ledger(list(lines), [], SECOND, at, 900, {honest.lab})


def last(ledger: Ledger, case: str) -> Bad:
    """Forge the last entry."""
    return Bad(resigned(ledger.lines), len(ledger.lines) - 1, case)


def file_of(honest: Honest) -> list[bytes]:
    first, lines = honest.ledger.export()
    return [first, *lines]


def edited(line: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes:
    entry = json.loads(line)
    edit(entry)
    return canonical(entry)
