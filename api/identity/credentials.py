"""Repeated checks of callers that were authenticated earlier: many in one batch."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlmodel import col

from api.db import ConsoleSessionRow, ResearcherRow, RevokedTokenRow, Store
from api.identity.caller import Caller
from api.kernel.clock import now

_RESEARCHERS = select(
    col(ResearcherRow.id), col(ResearcherRow.role), col(ResearcherRow.key_thumbprint)
).where(
    col(ResearcherRow.id).in_(bindparam("names", expanding=True)),
    col(ResearcherRow.removed_at).is_(None),
)
_REVOKED = select(col(RevokedTokenRow.jti)).where(
    col(RevokedTokenRow.jti).in_(bindparam("names", expanding=True))
)
_SESSIONS = select(col(ConsoleSessionRow.digest), col(ConsoleSessionRow.key_thumbprint)).where(
    col(ConsoleSessionRow.digest).in_(bindparam("names", expanding=True))
)


def check_still_valid(store: Store, callers: Sequence[Caller]) -> list[bool]:
    """Return, for each caller, whether researcher, token and session are all still valid."""
    known = [caller.credential for caller in callers if caller.credential is not None]
    with store.autocommit_connection() as connection:
        people = _found(connection, _RESEARCHERS, {caller.researcher_id for caller in callers})
        revoked = _found(connection, _REVOKED, {each.token for each in known if each.token})
        sessions = _found(connection, _SESSIONS, {each.session for each in known if each.session})

    def valid(caller: Caller) -> bool:
        person, credential = people.get(caller.researcher_id), caller.credential
        if person is None or person.role != caller.role:
            return False
        if credential is None:
            return True
        if credential.expires_at <= now() or credential.token in revoked:
            return False
        if credential.session is None:
            return True
        session = sessions.get(credential.session)
        return session is not None and session.key_thumbprint == person.key_thumbprint

    return [valid(caller) for caller in callers]


def _found(connection: Connection, query: Any, names: set[str]) -> dict[str, Any]:
    """Return the rows by their first column; run no query without names."""
    if not names:
        return {}
    return {row[0]: row for row in connection.execute(query, {"names": sorted(names)})}
