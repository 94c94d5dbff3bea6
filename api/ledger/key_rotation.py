"""Rotating the service's keys, so that trust in the ledger passes on without a gap."""

from typing import get_args

from joserfc.jwk import OKPKey

from api.db import Store
from api.identity.signing_keys import SigningKeys
from api.ledger.checkpoints import sign_head
from api.ledger.entries import lock
from openapi.resources import KeyPurpose, LedgerKeys
from privacy.ledger.notes import VerifierKey


def rotate(store: Store, keys: SigningKeys, origin: str, by: str) -> None:
    """Fresh keys for everything, in one transaction with the entries that name them.

    The head that first covers the new ledger key is signed by the old key and by the new one.
    """
    old = keys.current("ledger")
    with store.write() as session:
        at = lock(session)
        fresh = {purpose: keys.rotate(session, purpose, by) for purpose in get_args(KeyPurpose)}
        sign_head(session, [old, fresh["ledger"]], origin, at, lasting=True)
    keys.refresh()


def published(keys: SigningKeys, origin: str) -> LedgerKeys:
    ledger = [OKPKey.import_key(jwk) for jwk in keys.all_of("ledger")]
    return LedgerKeys(
        origin=origin,
        ledger=[str(VerifierKey.of(origin, key)) for key in ledger],
        receipts=keys.all_of("receipt"),
    )
