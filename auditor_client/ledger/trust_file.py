"""File of the keys that a verifier trusts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey

from auditor_client.errors import InputError
from openapi.resources import LedgerKeys
from privacy.errors import EvidenceError
from privacy.ledger.notes import SignatureType, VerifierKey
from privacy.ledger.signatures import Signer
from privacy.ledger.trust import Trust


def make_trust(stated: LedgerKeys, regulators: Mapping[str, Mapping[str, Any]]) -> Trust:
    """Return the platform's stated keys, and regulators' public JWKs by researcher identifier.

    The platform's keys are trusted on first use: compare them once with those that it published
    elsewhere. The regulators' keys must come from the regulators. Regulators with Ed25519 keys are
    also witnesses.
    """
    try:
        signers = {name: Signer.of(dict(jwk)) for name, jwk in regulators.items()}
        return Trust(
            origin=stated.origin,
            ledger=tuple(map(VerifierKey.parse, stated.ledger)),
            receipts=tuple(stated.receipts),
            regulators={signer.thumbprint: signer for signer in signers.values()},
            witnesses=tuple(
                VerifierKey.of(name, signer.key, SignatureType.COSIGNATURE_V1)
                for name, signer in signers.items()
                if isinstance(signer.key, OKPKey)
            ),
        )
    except EvidenceError as error:
        raise InputError(f"These keys cannot be used: {error}.") from error


def read_trust(path: str | Path) -> Trust:
    """Return the keys in a file: see `auditor ledger keys`."""
    try:
        return Trust.parse(Path(path).read_bytes())
    except EvidenceError as error:
        raise InputError(f"{path}: {error}.") from error
