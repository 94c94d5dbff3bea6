"""OAuth client of a researcher: their id, their key, and their role as the only scope."""

from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import ClientMixin

from api.db import ResearcherRow, Store
from api.identity.metadata import AUTH_METHOD, GRANT


@dataclass(frozen=True)
class Client(ClientMixin):  # type: ignore[misc]
    researcher_id: str
    role: str
    jwk: dict[str, Any]

    def get_client_id(self) -> str:
        return self.researcher_id

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the role if it was requested or nothing was.

        Return None (`invalid_scope`) otherwise.
        """
        asked = set((scope or self.role).split(" "))
        return self.role if asked == {self.role} else None

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == AUTH_METHOD

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == GRANT


def find_client(store: Store, client_id: str) -> Client | None:
    """Return the client of this id, if it has a key to authenticate with."""
    # An identifier that is not printable belongs to nobody, and not every database can search for
    # it.
    if not (client_id.isascii() and client_id.isprintable()):
        return None
    with store.read() as session:
        row = session.get(ResearcherRow, client_id)
    if row is None or row.jwk is None or row.removed_at is not None:
        return None
    return Client(researcher_id=row.id, role=row.role, jwk=row.jwk)
