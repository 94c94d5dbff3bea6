"""Ledger of a service: its entries, its checkpoints, and the cosignatures of witnesses."""

import base64
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from joserfc.jwk import OKPKey

from auditor_client.errors import LedgerError
from auditor_client.ledger.seen_checkpoints import remember, seen, size_of
from auditor_client.transport.http_client import Transport
from openapi.resources import (
    ConsistencyProof,
    Cosignature,
    Entry,
    InclusionProof,
    LedgerKeys,
    SignedHead,
)
from privacy.errors import EvidenceError
from privacy.ledger import merkle, notes
from privacy.ledger.notes import Checkpoint
from privacy.ledger.trust import Trust

PATH = "/v1/ledger"


class Ledger:
    """The append-only ledger, limited to the entries that you may see."""

    def __init__(self, transport: Transport, public: Transport, maker: str, key: OKPKey) -> None:
        self._transport = transport
        self._public = public
        self._maker = maker
        self._key = key

    def keys(self) -> LedgerKeys:
        """Return the public keys that the platform states now."""
        return self._public.get(f"{PATH}/keys", LedgerKeys)

    def entries(self, kind: str | None = None) -> Iterator[Entry]:
        """Return the entries that you may see, newest first."""
        return self._transport.items(f"{PATH}/entries", Entry, kind=kind)

    def proof(self, number: int) -> InclusionProof:
        """Return the proof that the newest signed checkpoint includes an entry."""
        return self._transport.get(f"{PATH}/entries/{number}/proof", InclusionProof)

    def export(self, path: str | Path) -> Path:
        """Write an export that verifies offline: JSON lines, or Parquet if the name ends in
        .parquet.

        The export proves its consistency with the checkpoints that this machine has seen.
        """
        path = Path(path)
        written_as = "parquet" if path.suffix == ".parquet" else "jsonl"
        sizes = [str(size_of(note)) for note in seen(self.keys().origin)]
        draft = path.with_name(f".{path.name}.part")
        with draft.open("wb") as file:
            for piece in self._transport.pieces(f"{PATH}/export", format=written_as, seen=sizes):
                file.write(piece)
        return draft.replace(path)

    def head(self, trust: Trust, witnessed: Iterable[str] = ()) -> Checkpoint:
        """Return the newest checkpoint, if it is consistent with all that this machine saw or
        witnesses signed.
        """
        note = self._transport.get(f"{PATH}/checkpoint", SignedHead).note
        head = _opened(note, trust)
        for earlier in seen(trust.origin):
            self._continues(head, _opened(earlier, trust))
        for cosigned in witnessed:
            self._continues(head, _opened(cosigned, trust, witnessed=True))
        remember(trust.origin, note)
        return head

    def cosign(self, trust: Trust) -> SignedHead:
        """Check, as a witness, that the checkpoint is consistent with earlier ones, and sign it."""
        self.head(trust)
        [note] = seen(trust.origin)
        cosigned = notes.cosign(note, self._maker, self._key, int(time.time()))
        body = Cosignature(note=cosigned)
        return self._transport.post(
            f"{PATH}/cosignatures", body, SignedHead, retry_idempotently=True
        )

    def _continues(self, head: Checkpoint, earlier: Checkpoint) -> None:
        if head.size < earlier.size:
            raise LedgerError(
                f"The service shows a checkpoint of {head.size} entries, but it signed "
                f"one of {earlier.size} before. It hides entries. Keep both and tell the "
                "regulator.",
                case="hidden-entries",
            )
        if earlier.size == 0:
            return
        params = {"old": str(earlier.size), "new": str(head.size)}
        proof = self._transport.get(f"{PATH}/consistency", ConsistencyProof, **params)
        path = [base64.b64decode(each) for each in proof.path]
        try:
            merkle.verify_consistency(earlier.size, head.size, earlier.root, head.root, path)
        except EvidenceError as error:
            raise LedgerError(
                f"The checkpoint of {head.size} entries is not consistent with the one of "
                f"{earlier.size} ({error}). Entries were rewritten, or other people see "
                "another ledger. Keep both and tell the regulator.",
                case="rewritten",
            ) from error


def _opened(note: str, trust: Trust, *, witnessed: bool = False) -> Checkpoint:
    try:
        opened = notes.open_checkpoint(note, [*trust.ledger, *trust.witnesses])
    except EvidenceError as error:
        raise LedgerError(f"A checkpoint does not verify: {error}.", case="untrusted") from error
    if witnessed and not opened.witnesses:
        raise LedgerError("No witness that you trust cosigned this checkpoint.", case="no-witness")
    return opened.checkpoint
