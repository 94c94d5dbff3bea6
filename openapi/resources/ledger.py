"""The ledger over HTTP: entries, checkpoints, proofs, and signing keys."""

from typing import Annotated, Any

from pydantic import Field

from openapi.wire_model import Identifier, Instant, Wire, example

Hash = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{43}=$", description="32 bytes in base64.")]
Number = Annotated[int, Field(ge=0, le=2**62)]
NoteText = Annotated[str, Field(min_length=1, max_length=20_000)]


class Made(Wire):
    """Statement of a person in an entry, with their signature."""

    by: str
    key: str
    body: dict[str, Any]
    signature: str


class Entry(Wire):
    """One record of the append-only ledger, numbered without gaps."""

    number: Number
    kind: str
    at: Instant
    auditor_id: Identifier | None
    facts: dict[str, Any]
    statement: Made | None
    leaf: Hash


class LedgerKeys(Wire):
    """Public keys that the platform states; compare them once through another channel.

    `ledger` are C2SP verifier keys, newest first; `receipts` are JSON Web Keys.
    """

    origin: str
    ledger: list[str]
    receipts: list[dict[str, Any]]


class SignedHead(Wire):
    """A checkpoint: a C2SP signed note, with the cosignatures of witnesses."""

    size: Number
    note: str
    at: Instant


class InclusionProof(Wire):
    """Entry, and the path from it to the root of a checkpoint."""

    entry: Annotated[str, Field(description="The entry's bytes.")]
    number: Number
    path: list[Hash]
    checkpoint: str


class ConsistencyProof(Wire):
    """Proof that the checkpoint of size `new` is consistent with the checkpoint of size `old`."""

    old: Number
    new: Number
    path: list[Hash]


class Cosignature(Wire):
    """A checkpoint with the cosignature of the regulator who sends it."""

    model_config = example(
        note="auditor.example.org/v1/ledger\n17\nqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=\n\n"
    )

    note: NoteText
