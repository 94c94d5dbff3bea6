"""Trust of a verifier: one file of public keys, which the verifier makes.

The file is never read from an export: somebody who can rewrite the ledger could rewrite the export
too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.notes import SignatureType, VerifierKey
from privacy.ledger.signatures import Signer

FORMAT = "platform-auditor/keys/v1"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    origin: str
    ledger: list[str]
    receipts: list[dict[str, Any]]
    regulators: list[dict[str, Any]]
    witnesses: list[str]


@dataclass(frozen=True)
class Trust:
    """Origin of a ledger; its keys, and those of receipts, regulators and witnesses."""

    origin: str
    ledger: tuple[VerifierKey, ...]
    # JWKs; a receipt names the `kid` of its key.
    receipts: tuple[Mapping[str, Any], ...]
    # Keyed by thumbprint.
    regulators: Mapping[str, Signer]
    witnesses: tuple[VerifierKey, ...] = ()

    def __post_init__(self) -> None:
        if not self.ledger or any(
            (key.name, key.type) != (self.origin, SignatureType.ED25519) for key in self.ledger
        ):
            raise EvidenceError(
                "the keys of the ledger must be Ed25519 keys named after its origin",
                case="keys-of-the-ledger",
            )
        if any(key.type != SignatureType.COSIGNATURE_V1 for key in self.witnesses):
            raise EvidenceError(
                "the keys of witnesses must be of type cosignature/v1", case="keys-of-witnesses"
            )
        for jwk in self.receipts:
            Signer.of(jwk)

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """Return the keys of a file; unknown members and private keys are refused."""
        try:
            file = msgspec.json.decode(text, type=_File)
        except (ValueError, RecursionError) as error:
            raise EvidenceError(
                f"this is not a file of keys: {error}", case="not-a-keys-file"
            ) from error
        if file.format != FORMAT:
            raise EvidenceError(
                f"a file of keys must have the format {FORMAT}", case="format-of-the-keys"
            )
        return cls(
            origin=file.origin,
            ledger=tuple(map(VerifierKey.parse, file.ledger)),
            receipts=tuple(file.receipts),
            regulators=_by_thumbprint(file.regulators),
            witnesses=tuple(map(VerifierKey.parse, file.witnesses)),
        )

    def __str__(self) -> str:
        """Return the content of the file."""
        members = {
            "format": FORMAT,
            "origin": self.origin,
            "ledger": [str(key) for key in self.ledger],
            "receipts": [dict(jwk) for jwk in self.receipts],
            "regulators": [one.key.as_dict(private=False) for one in self.regulators.values()],
            "witnesses": [str(key) for key in self.witnesses],
        }
        return json.dumps(members, ensure_ascii=False, indent=1) + "\n"


def _by_thumbprint(jwks: list[dict[str, Any]]) -> dict[str, Signer]:
    signers = [Signer.of(jwk) for jwk in jwks]
    return {signer.thumbprint: signer for signer in signers}
