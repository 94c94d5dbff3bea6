"""Signing keys of the service: generated here, stored encrypted, rotated, published.

A retired access-token key verifies for as long as a token signed with it can live; a receipt key is
published for ever. Two keys in force can only result from a race; then the newest is current.

[RFC9864] Ed25519 by its full name. [RFC7638] the thumbprint is the kid.
"""

import threading
import time
from datetime import datetime, timedelta
from typing import Any, Protocol

from joserfc.jwk import OKPKey
from sqlalchemy import select
from sqlmodel import Session, col

from api.db import SigningKeyRow, Store
from api.identity.key_encryption import KeyCipher
from api.kernel.clock import now
from api.kernel.settings import Settings
from openapi.resources import KeyPurpose as Purpose

ALGORITHM = "Ed25519"
TOKEN_LIFETIME = timedelta(seconds=600)
# Time for which another process may still sign with a key that was just retired.
REFRESH = timedelta(seconds=5)
CLOCK_SKEW = timedelta(seconds=30)
SEARCH_PAUSE = 1.0


class KeyLog(Protocol):
    """Log that records every new key, and the lock that orders its entries."""

    def lock(self, session: Session) -> object:
        """Wait for the lock that orders all entries."""
        ...

    def record(self, session: Session, facts: dict[str, Any]) -> object:
        """Append the entry of a new key."""
        ...


class SigningKeys:
    """Signing keys in memory, refreshed every few seconds, or for an unknown kid."""

    def __init__(self, store: Store, settings: Settings, log: KeyLog) -> None:
        self._store, self._log = store, log
        self._seal = KeyCipher(settings.key_encryption_key)
        self._lock = threading.Lock()
        self._rows: tuple[SigningKeyRow, ...] = ()
        self._loaded_at = self._searched_at = float("-inf")
        self._opened: dict[str, OKPKey] = {}
        self._imported: dict[str, OKPKey] = {}

    def current(self, purpose: Purpose) -> OKPKey:
        """Return the private key to sign with; generate the first one."""
        return self._open(_current(self._fresh(), purpose) or self._first(purpose))

    def overlapping(self, purpose: Purpose, overlap: timedelta) -> list[OKPKey]:
        """Return the current key, and those that were retired at most `overlap` ago."""
        current = self.current(purpose)
        retired = [
            row
            for row in self._fresh()
            if row.purpose == purpose
            and row.retired_at is not None
            and now() - row.retired_at < overlap
        ]
        return [current, *map(self._open, retired)]

    def rotate(self, session: Session, purpose: Purpose, by: str) -> OKPKey:
        """Retire the current key and generate a new one.

        Call `refresh` after the session has committed.
        """
        self._log.lock(session)
        for row in _in_force(_read(session), purpose):
            row.retired_at = now()
            session.add(row)
        return self._open(self._make(session, purpose, by))

    def refresh(self) -> None:
        """Read the keys that another session has just committed."""
        self._load()

    def verifying(self, purpose: Purpose, kid: str) -> OKPKey | None:
        """Return the public key of this kid and purpose.

        Return None if it has been retired for too long.
        """
        row = _find(self._fresh(), purpose, kid)
        if row is None and self._may_search():
            row = _find(self._load(), purpose, kid)
        return self._public(row) if row else None

    def published(self) -> dict[str, list[dict[str, Any]]]:
        """Return the JWK set of public keys; it always has the current key of each purpose."""
        for purpose in ("access-token", "receipt"):
            self.current(purpose)
        rows = [row for row in self._fresh() if row.purpose != "ledger"]
        return {"keys": [row.public_jwk for row in rows if _verifies(row)]}

    def all_of(self, purpose: Purpose) -> list[dict[str, Any]]:
        """Return all public keys ever used for this purpose, the newest first."""
        self.current(purpose)
        return [row.public_jwk for row in self._fresh() if row.purpose == purpose]

    def _first(self, purpose: Purpose) -> SigningKeyRow:
        with self._store.write() as session:
            self._log.lock(session)
            row = _current(_read(session), purpose) or self._make(session, purpose, "init")
        self._load()
        return row

    def _open(self, row: SigningKeyRow) -> OKPKey:
        if row.kid not in self._opened:
            self._opened[row.kid] = self._seal.open(row.sealed_jwk, row.kid)
        return self._opened[row.kid]

    def _public(self, row: SigningKeyRow) -> OKPKey:
        if row.kid not in self._imported:
            self._imported[row.kid] = OKPKey.import_key(dict(row.public_jwk))
        return self._imported[row.kid]

    def _make(self, session: Session, purpose: Purpose, by: str) -> SigningKeyRow:
        key = OKPKey.generate_key(
            "Ed25519", parameters={"alg": ALGORITHM, "use": "sig"}, auto_kid=True
        )
        row = SigningKeyRow(
            kid=key.thumbprint(),
            purpose=purpose,
            public_jwk=dict(key.as_dict(private=False)),
            sealed_jwk=self._seal.close(key),
            created_at=now(),
        )
        session.add(row)
        facts = {"purpose": purpose, "kid": row.kid, "jwk": row.public_jwk, "by": by}
        self._log.record(session, facts)
        return row

    def _fresh(self) -> tuple[SigningKeyRow, ...]:
        if time.monotonic() - self._loaded_at > REFRESH.total_seconds():
            return self._load()
        return self._rows

    def _load(self) -> tuple[SigningKeyRow, ...]:
        loaded_at = time.monotonic()
        with self._store.read() as session:
            rows = _read(session)
        with self._lock:
            # A slower, older read must not hide a key that a newer read has found.
            if loaded_at >= self._loaded_at:
                self._rows, self._loaded_at = rows, loaded_at
        return rows

    def _may_search(self) -> bool:
        with self._lock:
            if time.monotonic() - self._searched_at < SEARCH_PAUSE:
                return False
            self._searched_at = time.monotonic()
            return True


def _read(session: Session) -> tuple[SigningKeyRow, ...]:
    newest_first = (col(SigningKeyRow.created_at).desc(), col(SigningKeyRow.kid))
    return tuple(session.scalars(select(SigningKeyRow).order_by(*newest_first)))


def _in_force(rows: tuple[SigningKeyRow, ...], purpose: Purpose) -> list[SigningKeyRow]:
    return [row for row in rows if row.purpose == purpose and row.retired_at is None]


def _current(rows: tuple[SigningKeyRow, ...], purpose: Purpose) -> SigningKeyRow | None:
    return next(iter(_in_force(rows, purpose)), None)


def _find(rows: tuple[SigningKeyRow, ...], purpose: Purpose, kid: str) -> SigningKeyRow | None:
    matching = (row for row in rows if row.kid == kid and row.purpose == purpose)
    return next((row for row in matching if _verifies(row)), None)


def _verifies(row: SigningKeyRow) -> bool:
    if row.retired_at is None or row.purpose == "receipt":
        return True
    return now() < _last_use(row.retired_at)


def _last_use(retired_at: datetime) -> datetime:
    return retired_at + TOKEN_LIFETIME + REFRESH + CLOCK_SKEW
