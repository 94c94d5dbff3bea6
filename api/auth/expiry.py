"""Forgetting what can no longer matter: the housekeeping of authentication."""

from datetime import datetime

from sqlalchemy import delete
from sqlmodel import Session, col

from api.store import RevokedTokenRow, UsedAssertionRow


def forget_expired(session: Session, now: datetime) -> None:
    """Drop used assertions and revocations whose token would be refused as expired anyway."""
    session.execute(delete(UsedAssertionRow).where(col(UsedAssertionRow.expires_at) <= now))
    session.execute(delete(RevokedTokenRow).where(col(RevokedTokenRow.expires_at) <= now))
