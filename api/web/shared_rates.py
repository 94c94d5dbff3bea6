"""Thread that draws tokens for all buckets of a process, and its database statements."""

import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import partial
from math import floor
from typing import Any

from sqlalchemy import bindparam, func, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Session, col, delete, select, update

from api.db import UNAVAILABLE, RateBucketRow, Store
from api.kernel.clock import EPOCH
from api.kernel.settings import Settings
from api.web.shared_buckets import Request, SharedBuckets, TokensGranted
from api.web.token_buckets import LocalBuckets, Rate, TokenBuckets

# Seconds between two draws, and between two checks while nobody waits.
_PAUSE, _IDLE = 0.05, 0.5
_FAILED_SECONDS = 1.0
_CLEANING_SECONDS = 60.0

_ROW = col(RateBucketRow.name) == bindparam("bucket")
_CREATED = insert(RateBucketRow).on_conflict_do_nothing()
_LOCKED = (
    select(RateBucketRow.name, RateBucketRow.tokens, RateBucketRow.drawn_at)
    .where(col(RateBucketRow.name).in_(bindparam("names", expanding=True)))
    .order_by(col(RateBucketRow.name))
    .with_for_update()
)
_WRITTEN = (
    update(RateBucketRow)
    .where(_ROW)
    .values(tokens=bindparam("left"), drawn_at=bindparam("at"), full_at=bindparam("full"))
)
# Rates need not survive a crash of the database.
_UNSAFE = text("SET LOCAL synchronous_commit TO off")
_FULL = (
    select(RateBucketRow.name)
    .where(col(RateBucketRow.full_at) < func.clock_timestamp())
    .with_for_update(skip_locked=True)
)

log = logging.getLogger(__name__)


class SharedRates:
    """Buckets of every scope; on SQLite, where one process serves, they are local."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._shared = store.engine.dialect.name == "postgresql"
        key = settings.key_encryption_key.get_secret_value()
        self._key = hashlib.sha256(b"rates:" + key.encode()).digest()
        self._scopes: list[SharedBuckets] = []
        self._wake = threading.Event()
        self._cleaned_at = time.monotonic()

    def buckets(self, scope: str, rate: Rate) -> TokenBuckets:
        """Return the buckets of one scope."""
        if not self._shared:
            return LocalBuckets(rate)
        made = SharedBuckets(rate, partial(self._name, scope), self._wake.set)
        self._scopes.append(made)
        return made

    def run(self, stop: threading.Event) -> None:
        """Draw tokens until `stop` is set. Without shared buckets there is nothing to draw."""
        while self._shared and not stop.is_set():
            self._wake.wait(_PAUSE if any(each.is_waiting for each in self._scopes) else _IDLE)
            self._wake.clear()
            try:
                self._draw_all()
                self._clean()
            except UNAVAILABLE:
                log.warning("rates.unavailable")
                stop.wait(_FAILED_SECONDS)
            except Exception:
                log.exception("rates.error")
                stop.wait(_FAILED_SECONDS)

    def _draw_all(self) -> None:
        asked = {scope: scope.requests() for scope in self._scopes}
        if not any(asked.values()):
            return
        with self._store.write() as session:
            drawn = draw(session, [each for requests in asked.values() for each in requests])
        for scope, requests in asked.items():
            scope.receive(drawn, requests)

    def _clean(self) -> None:
        """Drop rows of buckets that are full again."""
        if time.monotonic() - self._cleaned_at < _CLEANING_SECONDS:
            return
        self._cleaned_at = time.monotonic()
        with self._store.write() as session:
            session.exec(delete(RateBucketRow).where(col(RateBucketRow.name).in_(_FULL)))

    def _name(self, scope: str, who: str) -> str:
        """Return the name of a caller in the database, which stores no address."""
        digest = hmac.new(self._key, f"{scope}:{who}".encode(), hashlib.sha256)
        return f"{scope}:{digest.hexdigest()[:32]}"


def draw(session: Session, requests: Iterable[Request]) -> dict[str, TokensGranted]:
    """Draw from shared buckets, in one transaction; buckets are locked in the order of names."""
    asked = {request.name: request for request in sorted(requests, key=lambda each: each.name)}
    connection = session.connection()
    connection.execute(_UNSAFE)
    connection.execute(_CREATED, [_full(request) for request in asked.values()])
    rows = connection.execute(_LOCKED, {"names": list(asked)}).all()
    at: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    drawn, written = {}, []
    for row in rows:
        request = asked[row.name]
        refilled = request.rate.after(row.tokens, max(0.0, (at - row.drawn_at).total_seconds()))
        granted = min(request.want, max(0, floor(refilled - request.debt)))
        left = refilled - request.debt - granted
        drawn[row.name] = TokensGranted(granted, left)
        written.append(_state(request, left, at))
    connection.execute(_WRITTEN, written)
    return drawn


def _full(request: Request) -> dict[str, Any]:
    """Return a bucket from which nobody has drawn."""
    bucket = {"name": request.name, "tokens": float(request.rate.burst)}
    return {**bucket, "drawn_at": EPOCH, "full_at": EPOCH}


def _state(request: Request, left: float, at: datetime) -> dict[str, Any]:
    seconds = (request.rate.burst - left) / request.rate.per_second
    full_at = at + timedelta(seconds=seconds)
    return {"bucket": request.name, "left": left, "at": at, "full": full_at}
