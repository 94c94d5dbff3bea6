"""What is forgotten, and when: abandoned uploads, members after their time, spent tokens."""

from sqlmodel import col, select

from api.audiences import uploads
from api.audiences.erasure import erase
from api.auth import forget_expired
from api.clock import now
from api.store import AudienceRow, Store


def tidy(store: Store) -> None:
    """Erase what has expired. Commitments, debits and releases stay."""
    with store.write() as session:
        forget_expired(session, now())
    query = (
        select(AudienceRow)
        .where(col(AudienceRow.state) != "erased", col(AudienceRow.expires_at) < now())
        .limit(100)
        .with_for_update(skip_locked=True, key_share=True)
    )
    with store.write() as session:
        for audience in session.exec(query).all():
            if not uploads.pending(session, audience.id):
                erase(session, audience)
