"""Expiry: erases abandoned uploads, members after their retention period, and expired tokens.

Identifiers are overwritten when they are sealed, people when they are erased. In SQLite's
write-ahead log they stay until it is truncated.
"""

from sqlmodel import col, select

from api.audiences import uploads
from api.audiences.erasure import erase
from api.db import AudienceRow, Store
from api.identity import forget_expired
from api.kernel.clock import now
from api.ledger import lock


def purge_expired(store: Store) -> None:
    """Erase everything expired, one audience at a time. Commitments, debits and releases stay."""
    with store.write() as session:
        forget_expired(session, now())
    expired = col(AudienceRow.state) != "erased", col(AudienceRow.expires_at) < now()
    with store.read() as session:
        found = session.exec(select(AudienceRow.id).where(*expired).limit(100)).all()
    for audience_id in found:
        with store.write() as session:
            lock(session)
            audience = uploads.lock_unless_charging(session, audience_id)
            due = audience is not None and audience.expires_at < now()
            if audience and due and not uploads.has_pending_audit(session, audience_id):
                erase(session, audience)
    store.truncate_wal()
