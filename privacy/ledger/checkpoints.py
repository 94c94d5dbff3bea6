"""Checkpoints to which the tree must lead, and the transfer of trust from one ledger key to the
next.

A trusted ledger key signs a checkpoint: one in the keys file, or one that an entry under an earlier
trusted checkpoint announced. So a new key counts from the first checkpoint that the old key signed
over its announcement.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from joserfc.jwk import OKPKey

from privacy.errors import EvidenceError, InvalidLedgerError, NoteError, ProofError
from privacy.ledger.entry_schemas import SigningKeyFacts, read
from privacy.ledger.export_lines import ExportedEntry
from privacy.ledger.merkle import EMPTY_ROOT, verify_consistency
from privacy.ledger.notes import Checkpoint, Note, VerifierKey, open_checkpoint
from privacy.ledger.signatures import Signer
from privacy.ledger.trust import Trust

Source = Literal["of the export", "seen before", "of a witness"]


@dataclass(frozen=True)
class SignedCheckpoint:
    """A signed note with its source."""

    note: str
    checkpoint: Checkpoint
    source: Source

    @classmethod
    def of(cls, note: str, source: Source, trust: Trust) -> "SignedCheckpoint":
        try:
            parsed = Note.parse(note)
            checkpoint = Checkpoint.parse(parsed.text)
            witnesses = parsed.verify(trust.witnesses)
        except NoteError as error:
            raise InvalidLedgerError(
                None, f"a checkpoint {source} cannot be read: {error}", case="unreadable-checkpoint"
            ) from error
        if checkpoint.origin != trust.origin:
            raise InvalidLedgerError(
                None, f"a checkpoint {source} belongs to another ledger", case="another-ledger"
            )
        if source == "of a witness" and not witnesses:
            raise InvalidLedgerError(
                None, f"no witness of the keys file signed {_named(checkpoint)}", case="no-witness"
            )
        return cls(note, checkpoint, source)


class CheckpointTrust:
    """All known checkpoints, in the order in which the tree reaches them."""

    def __init__(
        self, trust: Trust, export: Iterable[str], seen: Iterable[str], witnessed: Iterable[str]
    ) -> None:
        sources: list[tuple[Source, Iterable[str]]] = [
            ("of the export", export),
            ("seen before", seen),
            ("of a witness", witnessed),
        ]
        heads = [
            SignedCheckpoint.of(note, source, trust) for source, notes in sources for note in notes
        ]
        own = [head for head in heads if head.source == "of the export"]
        if not own:
            raise InvalidLedgerError(
                None, "the export has no checkpoint, so nobody has signed it", case="no-checkpoint"
            )
        self.newest = max(own, key=lambda head: head.checkpoint.size)
        self._trusted = set(trust.ledger)
        self._announced: list[VerifierKey] = []
        self._reached = 0
        self._waiting: dict[int, list[SignedCheckpoint]] = defaultdict(list)
        for head in heads:
            self._waiting[head.checkpoint.size].append(head)
        self.sizes = frozenset(self._waiting)
        self._known = {(head.checkpoint.size, head.checkpoint.root) for head in heads}

    def has(self, size: int, root: bytes) -> bool:
        """Tell whether this is one of them; each is checked against the tree and the keys in
        turn.
        """
        return (size, root) in self._known

    def note_new_key(self, entry: ExportedEntry) -> None:
        """Record a new key of the ledger, if the entry announces one."""
        facts = read(entry.facts, SigningKeyFacts)
        if facts.purpose != "ledger" or facts.jwk is None:
            return
        key = Signer.of(facts.jwk).key
        if not isinstance(key, OKPKey):
            raise EvidenceError("a key of the ledger must be an Ed25519 key", case="not-ed25519")
        name = next(iter(self._trusted)).name
        self._announced.append(VerifierKey.of(name, key))

    def check_root(self, size: int, root: bytes) -> None:
        """Check the checkpoints of this size against the tree, and trust the entries that they
        cover.
        """
        for head in self._waiting[size]:
            if head.checkpoint.root != root:
                raise InvalidLedgerError(
                    None,
                    "the tree over the entries does not have the root of "
                    f"{_named(head.checkpoint)} {head.source}: entries from "
                    f"{self._reached} to {size - 1} are not the signed ones",
                    case="another-root",
                )
        self._trust(size)

    def check_continued(self, paths: Mapping[int, Sequence[bytes]]) -> Checkpoint:
        """Return the newest checkpoint of an export without all entries, if it is consistent with
        all others.

        `paths` are the consistency proofs, by the size of the older checkpoint.
        """
        newest = self.newest.checkpoint
        for head in (head for waiting in self._waiting.values() for head in waiting):
            _check_continued(head, newest, paths)
        return newest

    def trust_up_to(self, size: int) -> None:
        """Trust the entries under the checkpoints up to this size, whose consistency was
        checked.
        """
        for passed in sorted(each for each in self._waiting if each <= size):
            self._trust(passed)

    def _trust(self, size: int) -> None:
        """Trust the announced keys, if a trusted key signed the checkpoints of this size."""
        waiting = self._waiting.pop(size)
        while waiting:
            signed = [head for head in waiting if self._is_trusted(head)]
            if not signed:
                raise InvalidLedgerError(
                    None,
                    f"{_named(waiting[0].checkpoint)} is not signed by a trusted key",
                    case="untrusted-checkpoint",
                )
            self._trusted.update(self._announced)
            waiting = [head for head in waiting if head not in signed]
        self._reached = size

    def finish(self, size: int) -> None:
        """Raise an error if a checkpoint covers missing entries, or no checkpoint covers the last
        entries.
        """
        for head in (head for waiting in self._waiting.values() for head in waiting):
            raise InvalidLedgerError(
                None,
                f"there are {size} entries, and {_named(head.checkpoint)} {head.source}:"
                " entries are missing, or this is an old export",
                case="entries-missing",
            )
        if self.newest.checkpoint.size != size:
            raise InvalidLedgerError(
                None,
                f"there are {size} entries, but {_named(self.newest.checkpoint)} is the newest",
                case="entries-after-the-head",
            )

    def _is_trusted(self, head: SignedCheckpoint) -> bool:
        try:
            open_checkpoint(head.note, self._trusted)
        except NoteError:
            return False
        return True


def _check_continued(
    head: SignedCheckpoint, newest: Checkpoint, paths: Mapping[int, Sequence[bytes]]
) -> None:
    older = head.checkpoint
    if (older.size, older.root) in ((0, EMPTY_ROOT), (newest.size, newest.root)):
        return
    if older.size > newest.size:
        raise InvalidLedgerError(
            None, f"this is an old export: {_named(older)} {head.source}", case="old-export"
        )
    if older.size not in paths and 0 < older.size < newest.size:
        raise InvalidLedgerError(
            None,
            f"nothing proves that it is consistent with {_named(older)} {head.source}: "
            "export it again, on the machine that has seen that checkpoint",
            case="no-consistency-proof",
        )
    try:
        path = paths.get(older.size, [])
        verify_consistency(older.size, newest.size, older.root, newest.root, path)
    except ProofError as error:
        raise InvalidLedgerError(
            None,
            f"{_named(newest)} is not consistent with {_named(older)} {head.source} "
            f"({error}): the ledger forked, or earlier entries were rewritten",
            case="forked",
        ) from error


def _named(checkpoint: Checkpoint) -> str:
    return f"the checkpoint of {checkpoint.size} entries"
