"""Cleanup of authentication: deletion of rows that can no longer matter."""

from datetime import datetime

from sqlalchemy import delete
from sqlmodel import Session, col

from api.db import ConsoleSessionRow, RevokedTokenRow, SignInCodeRow, UsedAssertionRow


def forget_expired(session: Session, now: datetime) -> None:
    """Delete rows whose token, code or session would be refused as expired anyway."""
    for table in (UsedAssertionRow, RevokedTokenRow, SignInCodeRow, ConsoleSessionRow):
        session.execute(delete(table).where(col(table.expires_at) <= now))
