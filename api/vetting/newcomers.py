"""Limits on all applications of newcomers together.

Anybody may apply, and every application is an entry of the ledger, which nobody can remove. The
rate per address (`applications_per_hour`) does not bound the applications of many addresses. These
limits do. They are counted in the database under the ledger lock, so they hold across processes.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func
from sqlmodel import Session, col, select

from api.db import ApplicationRow
from api.kernel.errors import RateLimitedError
from api.kernel.settings import Settings

_UNDECIDED = ("submitted", "changes-requested")
_RETRY_SECONDS = 3_600


def refuse_flood(session: Session, settings: Settings, at: datetime) -> None:
    """Raise if newcomers sent too many applications today, or too many await a decision."""
    newest = col(ApplicationRow.submitted_at) > at - timedelta(days=1)
    if _count(session, newest) >= settings.applications_per_day:
        raise _refusal(f"{settings.applications_per_day} applications of newcomers in 24 hours")
    undecided = col(ApplicationRow.state).in_(_UNDECIDED)
    if _count(session, undecided) >= settings.applications_open:
        raise _refusal(f"{settings.applications_open} undecided applications of newcomers")


def _count(session: Session, which: ColumnElement[bool]) -> int:
    of_strangers = col(ApplicationRow.auditor_id).is_(None)
    return session.exec(
        select(func.count()).select_from(ApplicationRow).where(of_strangers, which)
    ).one()


def _refusal(limit: str) -> RateLimitedError:
    return RateLimitedError(
        f"The service accepts at most {limit}. Nothing was stored. Try again in an hour, or ask "
        "the regulator.",
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )
