"""Cosignatures: regulators witness the checkpoints that this service signed.

[tlog-cosignature] https://c2sp.org/tlog-cosignature.
"""

from joserfc.jwk import OKPKey
from sqlmodel import Session

from api.db import ResearcherRow, Store
from api.identity.caller import Caller
from api.identity.key_policy import import_public_jwk
from api.kernel.errors import InvalidRequestError
from api.ledger import checkpoints
from openapi.resources import SignedHead
from privacy.ledger.notes import SignatureType, VerifierKey


def add_cosignature(store: Store, caller: Caller, note: str) -> SignedHead:
    """Store a regulator's cosignature of a checkpoint that this service signed."""
    with store.write() as session:
        witness = _witness(session, caller)
        return checkpoints.to_wire(checkpoints.add_cosignature(session, note, witness))


def _witness(session: Session, caller: Caller) -> VerifierKey:
    """Return the regulator's own key, in the form of C2SP cosignatures."""
    jwk = session.get_one(ResearcherRow, caller.researcher_id).jwk
    key = import_public_jwk(jwk) if jwk else None
    if not isinstance(key, OKPKey):
        raise InvalidRequestError("A witness needs an Ed25519 key.")
    return VerifierKey.of(caller.researcher_id, key, SignatureType.COSIGNATURE_V1)
