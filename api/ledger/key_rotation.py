"""Rotation of the service's keys, so that trust in the ledger continues without a gap."""

from typing import Any, get_args

from joserfc.jwk import OKPKey
from sqlmodel import Session, col, select

from api.db import SigningKeyRow, Store
from api.identity.signing_keys import SigningKeys
from api.ledger.checkpoints import issue_checkpoint
from api.ledger.entries import append, lock
from openapi.resources import KeyPurpose, LedgerKeys, SigningKey
from privacy.ledger.notes import VerifierKey


class KeyEntries:
    """Ledger as the log of the service's keys: every new key is an entry."""

    def lock(self, session: Session) -> None:
        """Lock the ledger."""
        lock(session)

    def record(self, session: Session, facts: dict[str, Any]) -> None:
        """Append the entry of a new key."""
        append(session, "signing-key", facts)


def rotate(store: Store, keys: SigningKeys, origin: str, by: str) -> None:
    """Generate new keys for all purposes, in one transaction with the entries that name them.

    The checkpoint that first covers the new ledger key is signed by the old key and by the new one.
    """
    old = keys.current("ledger")
    with store.write() as session:
        at = lock(session)
        fresh = {purpose: keys.rotate(session, purpose, by) for purpose in get_args(KeyPurpose)}
        issue_checkpoint(session, [old, fresh["ledger"]], origin, at, lasting=True)
    keys.refresh()


def list_keys(store: Store) -> list[SigningKey]:
    """Return the signing keys, in use and retired, oldest first; never their private parts."""
    with store.read() as session:
        rows = session.exec(select(SigningKeyRow).order_by(col(SigningKeyRow.created_at)))
        return [
            SigningKey(**row.model_dump(include={"kid", "purpose", "created_at", "retired_at"}))
            for row in rows
        ]


def published(keys: SigningKeys, origin: str) -> LedgerKeys:
    """Return the origin of this ledger, and the public keys of its checkpoints and of receipts."""
    ledger = [OKPKey.import_key(jwk) for jwk in keys.all_of("ledger")]
    return LedgerKeys(
        origin=origin,
        ledger=[str(VerifierKey.of(origin, key)) for key in ledger],
        receipts=keys.all_of("receipt"),
    )
