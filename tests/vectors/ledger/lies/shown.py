"""Forgeries of an auditor's own export."""

import json
from collections.abc import Sequence
from typing import Any

from privacy.receipts import digest
from tests.ledgers import (
    continued,
    head,
    header,
    proven,
)
from tests.vectors.ledger.honest import FIRST, Honest
from tests.vectors.ledger.lies.telling import (
    UNTRUSTED,
    Bad,
    Lie,
    edited,
    going_on,
)


def own(honest: Honest) -> list[bytes]:
    """As `export.jsonl` has the heads, with the paths from the older ones."""
    ledger, size = honest.ledger, len(honest.ledger.lines)
    older = [int(note.split("\n")[1]) for note in ledger.notes[:-1]]
    paths = {str(old): continued(ledger.lines, old) for old in older}
    to_all = ("settings", "model", "signing-key")
    entries = [json.loads(line) for line in ledger.lines]
    shown = [e["number"] for e in entries if e["auditor"] == honest.lab or e["kind"] in to_all]
    first = header(size, ledger.notes, auditor=honest.lab, consistency=paths)
    return [first, *(proven(ledger.lines, number) for number in shown)]


def _with_header(lines: Sequence[bytes], **changes: Any) -> list[bytes]:
    return [json.dumps(json.loads(lines[0]) | changes).encode(), *lines[1:]]


def a_proof_is_forged(honest: Honest) -> Bad:
    lines = own(honest)
    line = json.loads(lines[-2])
    line["path"][0] = line["path"][-1]
    lines[-2] = json.dumps(line).encode()
    return Bad(lines, json.loads(line["entry"])["number"], "inclusion-fails")


def an_entry_beside_its_proof_is_edited(honest: Honest) -> Bad:
    lines = own(honest)
    line = json.loads(lines[-1])
    changed = edited(line["entry"].encode(), lambda entry: entry["statement"].update(key="other"))
    line["entry"] = changed.decode()
    lines[-1] = json.dumps(line).encode()
    return Bad(lines, json.loads(line["entry"])["number"], "inclusion-fails")


def an_entry_of_another_auditor_is_shown(honest: Honest) -> Bad:
    lines, number = own(honest), honest.places["decision"]
    at = next(n for n, line in enumerate(lines) if n and _number(line) > number)
    lines.insert(at, proven(honest.ledger.lines, number))
    return Bad(lines, number, "entry-of-another-auditor")


def an_entry_is_shown_twice(honest: Honest) -> Bad:
    lines = own(honest)
    return Bad([*lines, lines[-1]], _number(lines[-1]), "not-in-order")


def a_new_key_is_used_and_not_announced(honest: Honest) -> Bad:
    lines, number = own(honest), honest.places["signing-key"]
    kept = [line for n, line in enumerate(lines) if n == 0 or _number(line) != number]
    return Bad(kept, None, UNTRUSTED)


def an_older_head_is_not_proved(honest: Honest) -> Bad:
    return Bad(_with_header(own(honest), consistency={}), None, "no-consistency-proof")


def a_consistency_proof_is_forged(honest: Honest) -> Bad:
    lines = own(honest)
    paths = json.loads(lines[0])["consistency"]
    size = honest.early.split("\n")[1]
    paths[size] = [paths[size][-1], *paths[size][1:]]
    return Bad(_with_header(lines, consistency=paths), None, "forked")


def the_head_that_drew_is_left_out(honest: Honest) -> Bad:
    lines, answer = own(honest), honest.places["drawn answer"]
    heads = json.loads(lines[0])["checkpoints"]
    kept = [note for note in heads if int(note.split("\n")[1]) != answer + 1]
    release = honest.places["drawn release"]
    return Bad(_with_header(lines, checkpoints=kept), release, "unsigned-drawing-head")


def a_branch_that_the_auditor_does_not_see_is_exchanged(honest: Honest) -> Bad:
    other = going_on(honest, "application")
    other.write("model", {"digest": digest(b"another model")})
    seen = head(other.lines, FIRST)
    lines, size = own(honest), len(other.lines)
    paths = json.loads(lines[0])["consistency"]
    paths[str(size)] = continued(honest.ledger.lines, size)
    changed = _with_header(lines, consistency=paths)
    return Bad(changed, None, "forked", [seen])


def _number(line: bytes) -> int:
    number: int = json.loads(json.loads(line)["entry"])["number"]
    return number


SHOWN: tuple[Lie, ...] = (
    a_proof_is_forged,
    an_entry_beside_its_proof_is_edited,
    an_entry_of_another_auditor_is_shown,
    an_entry_is_shown_twice,
    a_new_key_is_used_and_not_announced,
    an_older_head_is_not_proved,
    a_consistency_proof_is_forged,
    the_head_that_drew_is_left_out,
    a_branch_that_the_auditor_does_not_see_is_exchanged,
)
