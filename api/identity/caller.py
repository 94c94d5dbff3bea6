"""Caller of a request: a registered researcher, proven by an access token."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, cast

from sqlalchemy import Connection, Row, bindparam, select
from sqlmodel import Session, col

from api.db import ResearcherRow, RevokedTokenRow
from api.kernel.errors import ForbiddenError
from openapi.resources import Role

_REVOKED = (
    select(col(RevokedTokenRow.jti)).where(col(RevokedTokenRow.jti) == bindparam("jti")).exists()
)
_HOLDER = select(
    col(ResearcherRow.id),
    col(ResearcherRow.name),
    col(ResearcherRow.role),
    col(ResearcherRow.auditor_id),
    col(ResearcherRow.jwk),
    col(ResearcherRow.removed_at),
    _REVOKED.label("revoked"),
).where(col(ResearcherRow.id) == bindparam("researcher"))


@dataclass(frozen=True)
class Credential:
    """Credential of a caller: its expiry, and the name by which it can be revoked earlier.

    `token` is the identifier (`jti`) of one of our tokens, `session` the digest of a session of the
    console.
    """

    expires_at: datetime
    token: str | None = None
    session: str | None = None


@dataclass(frozen=True)
class Caller:
    researcher_id: str
    name: str
    role: Role
    auditor_id: str | None
    # The registered key, as it was at the time of authentication.
    jwk: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    credential: Credential | None = field(default=None, compare=False, repr=False)

    @property
    def auditor(self) -> str:
        """Return the auditor of a researcher; raise `ForbiddenError` for any other caller."""
        if self.auditor_id is None:
            raise ForbiddenError("Only a researcher of an auditor may do this.")
        return self.auditor_id


class Authenticator(Protocol):
    """Protocol that turns a bearer token into its caller, or raises `UnauthenticatedError`."""

    def authenticate(self, bearer: str) -> Caller: ...


def load_caller(session: Session, researcher_id: str) -> Caller | None:
    return _caller(session.get(ResearcherRow, researcher_id))


def load_caller_of_token(
    connection: Connection, researcher_id: str, jti: str
) -> tuple[Caller | None, bool]:
    """Return the caller of a token and whether the token was revoked, in one query."""
    row = connection.execute(_HOLDER, {"researcher": researcher_id, "jti": jti}).first()
    return _caller(row), row is not None and row.revoked


def load_caller_of_subject(session: Session, subject: str) -> Caller | None:
    query = select(ResearcherRow).where(col(ResearcherRow.outside_subject) == subject)
    return _caller(session.scalars(query).one_or_none())


def _caller(row: ResearcherRow | Row[*tuple[Any, ...]] | None) -> Caller | None:
    if row is None or row.removed_at is not None:
        return None
    return Caller(
        researcher_id=row.id,
        name=row.name,
        role=cast(Role, row.role),
        auditor_id=row.auditor_id,
        jwk=row.jwk,
    )
