"""The offline verifier: an export and the verifier's own keys, and nobody's word.

`docs/ledger.md` says what is checked. The first entry that is wrong is named, and why.
"""

from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from privacy.errors import EvidenceError, LedgerError
from privacy.ledger import lines
from privacy.ledger.heads import Heads
from privacy.ledger.lines import Entry, Header, Proven
from privacy.ledger.merkle import Frontier, leaf_hash, verify_inclusion
from privacy.ledger.notes import Checkpoint
from privacy.ledger.replay import Replay
from privacy.ledger.signatures import Signatures
from privacy.ledger.trust import Trust

FORMAT = "platform-auditor/ledger/v1"
_EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Verified:
    """What was found in order: so many entries of each kind, under the newest head.

    `note` is that head as it was signed: keep it, and hand it in as `seen` the next time.
    `auditor` where the export shows that auditor's entries alone.
    """

    size: int
    root: bytes
    counts: Mapping[str, int]
    checkpoint: Checkpoint
    note: str
    auditor: str | None = None


def verify(
    header: bytes,
    entries: Iterable[bytes],
    trust: Trust,
    *,
    seen: Iterable[str] = (),
    witnessed: Iterable[str] = (),
) -> Verified:
    """Check an export, its lines with or without their ends; raise `LedgerError` if it is wrong.

    `seen` are notes that this verifier was shown before, `witnessed` ones that a witness cosigned.
    """
    about = _header(header, trust)
    heads = Heads(trust, about.checkpoints, seen, witnessed)
    with ThreadPoolExecutor() as pool:
        signatures = Signatures(pool)
        check = _verify_all if about.auditor is None else _verify_some
        counts = check(about, entries, trust, heads, signatures)
    newest = heads.newest
    return Verified(
        newest.checkpoint.size,
        newest.checkpoint.root,
        counts,
        newest.checkpoint,
        newest.note,
        about.auditor,
    )


def _header(line: bytes, trust: Trust) -> Header:
    try:
        header = lines.parse_header(line.removesuffix(b"\n"))
    except EvidenceError as error:
        raise LedgerError(None, str(error)) from error
    if header.format != FORMAT:
        raise LedgerError(None, f"an export has the format {FORMAT}")
    if header.origin != trust.origin:
        raise LedgerError(None, f"this is the ledger of {header.origin}, not of {trust.origin}")
    return header


def _verify_all(
    header: Header, entries: Iterable[bytes], trust: Trust, heads: Heads, signatures: Signatures
) -> Counter[str]:
    """All entries: their numbers, times, statements and books, and the tree over them."""
    counts, tree, books = Counter[str](), Frontier(), _Books(Replay(trust, signatures))
    if 0 in heads.sizes:
        heads.reach(0, tree.root())
    for number, ended in enumerate(entries):
        line = ended.removesuffix(b"\n")
        try:
            entry = lines.parse(line)
            books.play(entry, number)
            if entry.kind == "signing-key":
                heads.announce(entry)
        except EvidenceError as error:
            raise _first(signatures, number, error) from error
        counts[entry.kind] += 1
        tree.append(leaf_hash(line))
        if number + 1 in heads.sizes:
            signatures.settle()
            heads.reach(number + 1, tree.root())
    signatures.settle()
    heads.finish(tree.size)
    if header.size != tree.size:
        raise LedgerError(None, f"the header says {header.size} entries, there are {tree.size}")
    return counts


def _verify_some(
    header: Header, entries: Iterable[bytes], trust: Trust, heads: Heads, signatures: Signatures
) -> Counter[str]:
    """An auditor's own entries: each with its proof, and the books of what is seen."""
    counts, books = Counter[str](), _Books(Replay(trust, signatures, partial=True))
    newest, before = heads.trusted_newest(), -1
    if header.size != newest.size:
        raise LedgerError(None, f"the header says {header.size} entries, its head {newest.size}")
    for ended in entries:
        number = None
        try:
            proven = lines.parse_proven(ended.removesuffix(b"\n"))
            entry = lines.parse(proven.entry.encode())
            number = entry.number
            _check_shown(entry, proven, header, newest, before)
            books.play(entry, number)
        except EvidenceError as error:
            raise _first(signatures, number, error) from error
        before = number
        counts[entry.kind] += 1
    signatures.settle()
    return counts


@dataclass
class _Books:
    """The replay, and the time it has come to."""

    replay: Replay
    latest: datetime = _EVER

    def play(self, entry: Entry, number: int) -> None:
        if entry.number != number:
            raise EvidenceError(f"it is numbered {entry.number}")
        if entry.at < self.latest:
            raise EvidenceError("its time is before that of the entry before it")
        self.latest = entry.at
        self.replay.play(entry)


def _check_shown(
    entry: Entry, proven: Proven, header: Header, head: Checkpoint, before: int
) -> None:
    """Raise unless the entry is in the tree, and may be in this export at this place."""
    if entry.number <= before:
        raise EvidenceError(f"it is numbered {entry.number}, after {before}")
    if entry.auditor not in (header.auditor, None):
        raise EvidenceError("it is of another auditor")
    try:
        path = [b64decode(each, validate=True) for each in proven.path]
    except ValueError as error:
        raise EvidenceError(f"its proof is not base64: {error}") from error
    verify_inclusion(leaf_hash(proven.entry.encode()), entry.number, head.size, path, head.root)


def _first(signatures: Signatures, number: int | None, error: EvidenceError) -> LedgerError:
    """The error with its number, unless the signature of an earlier entry is wrong."""
    if isinstance(error, LedgerError):
        return error
    signatures.settle()
    return LedgerError(number, str(error))
