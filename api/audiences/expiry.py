"""Expiry: abandoned uploads, members after their time, and spent tokens are erased.

Identifiers are overwritten when they are sealed, people when they are erased; in SQLite's log they
stay until it is cut.
"""

from sqlmodel import col, select

from api.audiences import uploads
from api.audiences.erasure import erase
from api.db import AudienceRow, Store
from api.identity import forget_expired
from api.kernel.clock import now
from api.ledger import lock


def purge_expired(store: Store) -> None:
    """Erase what has expired, one audience at a time. Commitments, debits and releases stay."""
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
