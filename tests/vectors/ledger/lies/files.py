"""Forgeries of a file by anybody, and of checkpoints by the platform."""

import json

from privacy.receipts import digest
from tests.ledgers import (
    ed25519,
    head,
    header,
)
from tests.vectors.ledger.honest import SECOND, Honest
from tests.vectors.ledger.lies.telling import (
    ROOT,
    UNTRUSTED,
    Bad,
    Lie,
    edited,
    file_of,
    going_on,
    resigned,
)


def an_entry_is_edited(honest: Honest) -> Bad:
    lines = file_of(honest)
    place = 1 + honest.places["content"]
    lines[place] = edited(lines[place], lambda entry: entry["facts"].update(digest=digest(b"x")))
    return Bad(lines, None, ROOT)


def an_entry_is_deleted(honest: Honest) -> Bad:
    lines, number = file_of(honest), honest.places["content"]
    del lines[1 + number]
    return Bad(lines, number, "another-number")


def an_entry_is_inserted(honest: Honest) -> Bad:
    lines, number = file_of(honest), honest.places["content"]
    lines.insert(1 + number, lines[1 + number])
    return Bad(lines, number + 1, "another-number")


def two_entries_are_exchanged(honest: Honest) -> Bad:
    lines, number = file_of(honest), honest.places["content"]
    lines[1 + number], lines[2 + number] = lines[2 + number], lines[1 + number]
    return Bad(lines, number, "another-number")


def the_export_is_cut_short(honest: Honest) -> Bad:
    return Bad(file_of(honest)[:-2], None, "entries-missing")


def the_header_counts_wrongly(honest: Honest) -> Bad:
    lines = file_of(honest)
    return Bad([header(3, honest.ledger.notes), *lines[1:]], None, "header-size")


def an_entry_is_spelt_otherwise(honest: Honest) -> Bad:
    lines, number = list(honest.ledger.lines), honest.places["content"]
    lines[number] = json.dumps(json.loads(lines[number])).encode()
    return Bad(resigned(lines), number, "not-canonical")


# Heads and the ledger's key.


def the_head_is_signed_by_another_key(honest: Honest) -> Bad:
    lines = file_of(honest)
    notes = [*honest.ledger.notes[:-1], head(lines[1:], ed25519("stranger"))]
    return Bad([header(len(lines) - 1, notes), *lines[1:]], None, UNTRUSTED)


def the_old_key_does_not_hand_on_to_the_new_one(honest: Honest) -> Bad:
    lines = file_of(honest)
    notes = [honest.early, *honest.ledger.notes[2:]]
    return Bad([header(len(lines) - 1, notes), *lines[1:]], None, UNTRUSTED)


def a_fork_that_somebody_saw_the_other_branch_of(honest: Honest) -> Bad:
    other = going_on(honest, "last charge")
    other.write("model", {"digest": digest(b"another model")})
    seen = head(other.lines, SECOND)
    return Bad(file_of(honest), None, ROOT, [seen])


def an_old_export_is_shown_again(honest: Honest) -> Bad:
    older = going_on(honest, "suspension")
    seen = honest.ledger.notes[-1]
    return Bad(resigned(older.lines), None, "entries-missing", [seen])


def a_past_that_a_witness_saw_is_rewritten(honest: Honest) -> Bad:
    lines, place = list(honest.ledger.lines), honest.places["content"]
    lines[place] = edited(lines[place], lambda entry: entry["facts"].update(digest=digest(b"x")))
    return Bad(resigned(lines), None, ROOT, witnessed=[honest.early])


def a_witness_whom_nobody_knows(honest: Honest) -> Bad:
    note = honest.ledger.notes[-1]
    return Bad(file_of(honest), None, "no-witness", witnessed=[note])


FILES: tuple[Lie, ...] = (
    an_entry_is_edited,
    an_entry_is_deleted,
    an_entry_is_inserted,
    two_entries_are_exchanged,
    the_export_is_cut_short,
    the_header_counts_wrongly,
    an_entry_is_spelt_otherwise,
    the_head_is_signed_by_another_key,
    the_old_key_does_not_hand_on_to_the_new_one,
    a_fork_that_somebody_saw_the_other_branch_of,
    an_old_export_is_shown_again,
    a_past_that_a_witness_saw_is_rewritten,
    a_witness_whom_nobody_knows,
)
