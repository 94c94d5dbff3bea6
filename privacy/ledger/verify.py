"""Offline verifier, which needs only an export and the verifier's own keys.

`docs/reference/ledger.md` lists the checks. The verifier names the first wrong entry and the
reason.
"""

import gc
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from privacy.errors import EvidenceError, InvalidLedgerError
from privacy.ledger import export_lines
from privacy.ledger.checkpoints import CheckpointTrust
from privacy.ledger.export_header import FORMAT, Header, decode_path, parse_header
from privacy.ledger.export_lines import ExportedEntry, Proven
from privacy.ledger.merkle import Frontier, leaf_hash, verify_inclusion
from privacy.ledger.notes import Checkpoint
from privacy.ledger.parts import Notice
from privacy.ledger.replay import Replay
from privacy.ledger.signatures import Signatures
from privacy.ledger.trust import Trust
from privacy.plans import PLANS, KindPlan

AT_A_TIME = 128


@dataclass(frozen=True)
class Verified:
    """Verified entries: their number by kind, and the newest checkpoint.

    `note` is that checkpoint as signed: store it, and pass it as `seen` the next time. `auditor` is
    set if the export has only that auditor's entries. `notices` counts the charges with claims that
    were accepted as stated, by reason and name.
    """

    size: int
    root: bytes
    counts: Mapping[str, int]
    checkpoint: Checkpoint
    note: str
    auditor: str | None = None
    notices: Mapping[Notice, int] = field(default_factory=dict)


def verify(
    header: bytes,
    entries: Iterable[bytes],
    trust: Trust,
    *,
    seen: Iterable[str] = (),
    witnessed: Iterable[str] = (),
    plans: Mapping[str, KindPlan] = PLANS,
) -> Verified:
    """Check an export, given as lines with or without their ends; raise `InvalidLedgerError` if it
    is wrong.

    `seen` are notes that this verifier saw earlier; `witnessed` are notes that a witness cosigned.
    `plans` are those of the kinds of audit whose parts it computes from the request.
    """
    about = _header(header, trust)
    heads = CheckpointTrust(trust, about.checkpoints, seen, witnessed)
    with ThreadPoolExecutor() as pool, _uncollected():
        signatures = Signatures(pool)
        check = _verify_all if about.auditor is None else _verify_some
        replay = Replay(
            trust, signatures, heads.has, partial=about.auditor is not None, plans=plans
        )
        counts = check(about, entries, replay, heads, signatures)
    newest = heads.newest
    return Verified(
        newest.checkpoint.size,
        newest.checkpoint.root,
        counts,
        newest.checkpoint,
        newest.note,
        about.auditor,
        replay.notices,
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector: there are no reference cycles here, so its scans would find
    nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _header(line: bytes, trust: Trust) -> Header:
    try:
        header = parse_header(line.removesuffix(b"\n"))
    except EvidenceError as error:
        raise InvalidLedgerError(None, str(error), case=error.case) from error
    if header.format != FORMAT:
        raise InvalidLedgerError(
            None, f"an export has the format {FORMAT}", case="format-of-the-export"
        )
    if header.origin != trust.origin:
        raise InvalidLedgerError(
            None,
            f"this is the ledger of {header.origin}, not of {trust.origin}",
            case="another-ledger",
        )
    return header


def _verify_all(
    header: Header,
    entries: Iterable[bytes],
    replay: Replay,
    heads: CheckpointTrust,
    signatures: Signatures,
) -> Counter[str]:
    """All entries: their numbers, times, statements and replay, and the tree over them."""
    counts, tree = Counter[str](), Frontier()
    if 0 in heads.sizes:
        heads.check_root(0, tree.root())
    for batch in _batches(entries, heads.sizes):
        number = tree.size
        try:
            for entry in export_lines.parse_all(batch):
                replay.play(entry, number)
                if entry.kind == "signing-key":
                    heads.note_new_key(entry)
                counts[entry.kind] += 1
                number += 1
        except EvidenceError as error:
            raise _first(signatures, number, error) from error
        tree.extend(batch)
        if tree.size in heads.sizes:
            signatures.settle()
            heads.check_root(tree.size, tree.root())
    signatures.settle()
    heads.finish(tree.size)
    if header.size != tree.size:
        raise InvalidLedgerError(
            None,
            f"the header states {header.size} entries, but there are {tree.size}",
            case="header-size",
        )
    return counts


def _batches(entries: Iterable[bytes], heads: Collection[int]) -> Iterator[list[bytes]]:
    """Yield batches of lines without their ends; no batch crosses a checkpoint."""
    lines_left, start = iter(entries), 0
    for end in [*sorted(heads), sys.maxsize]:
        while batch := list(islice(lines_left, min(AT_A_TIME, end - start))):
            start += len(batch)
            yield [line.removesuffix(b"\n") for line in batch]


def _verify_some(
    header: Header,
    entries: Iterable[bytes],
    replay: Replay,
    heads: CheckpointTrust,
    signatures: Signatures,
) -> Counter[str]:
    """Verify an auditor's own entries: each with its proof, and the balances of those seen.

    Their checkpoint is trusted through the announced keys, which are among them.
    """
    counts = Counter[str]()
    newest, before = _continued(header, heads), -1
    if header.size != newest.size:
        raise InvalidLedgerError(
            None,
            f"the header states {header.size} entries, but its checkpoint covers {newest.size}",
            case="header-size",
        )
    for ended in entries:
        number = None
        try:
            proven = export_lines.parse_proven(ended.removesuffix(b"\n"))
            entry = export_lines.parse(proven.entry.encode())
            number = entry.number
            _check_shown(entry, proven, header, newest, before)
            replay.play(entry, number)
            if entry.kind == "signing-key":
                heads.trust_up_to(number)
                heads.note_new_key(entry)
        except EvidenceError as error:
            raise _first(signatures, number, error) from error
        before = number
        counts[entry.kind] += 1
    signatures.settle()
    heads.trust_up_to(newest.size)
    return counts


def _continued(header: Header, heads: CheckpointTrust) -> Checkpoint:
    """Return the newest checkpoint, if the export proves its consistency with all others."""
    try:
        paths = header.paths()
    except EvidenceError as error:
        raise InvalidLedgerError(None, str(error), case=error.case) from error
    return heads.check_continued(paths)


def _check_shown(
    entry: ExportedEntry, proven: Proven, header: Header, head: Checkpoint, before: int
) -> None:
    """Raise an error unless the entry is in the tree, and may be in this export at this
    position.
    """
    if entry.number <= before:
        raise EvidenceError(f"its number is {entry.number}, after {before}", case="not-in-order")
    if entry.auditor not in (header.auditor, None):
        raise EvidenceError("it belongs to another auditor", case="entry-of-another-auditor")
    leaf = leaf_hash(proven.entry.encode())
    verify_inclusion(leaf, entry.number, head.size, decode_path(proven.path), head.root)


def _first(signatures: Signatures, number: int | None, error: EvidenceError) -> InvalidLedgerError:
    """Return the error with its number, unless the signature of an earlier entry is wrong."""
    if isinstance(error, InvalidLedgerError):
        return error
    signatures.settle()
    return InvalidLedgerError(number, str(error), case=error.case)
