"""Who is calling: a registered researcher, proven by an access token."""

from dataclasses import dataclass
from typing import Protocol, cast

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api.errors import ForbiddenError
from api.store import ResearcherRow, RevokedTokenRow
from openapi.models import Role

_REVOKED = select(RevokedTokenRow.jti).where(RevokedTokenRow.jti == bindparam("jti")).exists()
_HOLDER = select(ResearcherRow, _REVOKED).where(ResearcherRow.id == bindparam("researcher"))


@dataclass(frozen=True)
class Caller:
    researcher_id: str
    name: str
    role: Role
    auditor_id: str | None

    @property
    def auditor(self) -> str:
        """The auditor that a researcher belongs to; nobody else has one."""
        if self.auditor_id is None:
            raise ForbiddenError("Only a researcher of an auditor may do this.")
        return self.auditor_id


class Authenticator(Protocol):
    """Turns a bearer token into its caller, or raises `UnauthenticatedError`."""

    def authenticate(self, bearer: str) -> Caller: ...


def caller_by_id(session: Session, researcher_id: str) -> Caller | None:
    return _caller(session.get(ResearcherRow, researcher_id))


def caller_with(session: Session, researcher_id: str, jti: str) -> tuple[Caller | None, bool]:
    """Whose token it is, and whether it was revoked: one question, as it is asked all the time."""
    asked = {"researcher": researcher_id, "jti": jti}
    row, revoked = session.exec(_HOLDER, params=asked).first() or (None, False)
    return _caller(row), revoked


def caller_by_outside_subject(session: Session, subject: str) -> Caller | None:
    row = session.exec(
        select(ResearcherRow).where(col(ResearcherRow.outside_subject) == subject)
    ).one_or_none()
    return _caller(row)


def _caller(row: ResearcherRow | None) -> Caller | None:
    if row is None or row.removed_at is not None:
        return None
    return Caller(
        researcher_id=row.id,
        name=row.name,
        role=cast(Role, row.role),
        auditor_id=row.auditor_id,
    )
