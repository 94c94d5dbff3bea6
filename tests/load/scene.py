"""A service under test, with its people, one released audit, and its speed when idle."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from auditor_client import Auditor
from tests.load.databases import new_database
from tests.load.people import session_cookie, staff, vet
from tests.load.probe import idle_p99
from tests.load.reads import Identities
from tests.load.researchers import Researcher
from tests.load.server import Server, served

_IDLE_SECONDS = 2.0
_BROWSERS = 4


@dataclass(frozen=True)
class Scene:
    """Everything that the measurements of one database need."""

    name: str
    server: Server
    researchers: list[Researcher]
    identities: Identities
    values: Mapping[str, str]

    @property
    def url(self) -> str:
        return self.server.url

    @cached_property
    def idle(self) -> float:
        """The p99 of `/healthz` when nothing else happens, taken when it is first asked for."""
        return idle_p99(self.url, _IDLE_SECONDS)


@contextmanager
def scene(name: str, folder: Path) -> Iterator[Scene]:
    """Start the service on a new database and fill it by HTTP."""
    folder.mkdir()
    with new_database(name, folder) as database_url, served(folder, database_url) as server:
        researchers = vet(server)
        values = _released_audit(server, researchers[0])
        identities = _identities(server, researchers)
        yield Scene(name, server, researchers, identities, values)


def _released_audit(server: Server, researcher: Researcher) -> dict[str, str]:
    """Run one audit until a signed head covers it; return what path parameters are filled with."""
    with Auditor(server.url, researcher.id, researcher.key) as client:
        audit = client.audits.submit(researcher.request)
        client.audits.finish(audit.id, progress=False)
        assert client.audits.proof(audit.id) is not None
    return {
        "audit_id": audit.id,
        "content_id": researcher.request.content_id,
        "audience_id": researcher.request.audience_id,
        "application_id": "application_0",
        "name": "charges",
        "number": "1",
        "old": "1",
        "new": "2",
    }


def _identities(server: Server, researchers: list[Researcher]) -> Identities:
    """Return headers for each role; the audit belongs to the first auditor's researchers."""
    owners = [each for each in researchers if each.auditor_id == researchers[0].auditor_id]
    return {
        "anybody": [{}],
        "researcher": [each.authorization for each in owners],
        "regulator": staff(server, "regulator"),
        "operator": staff(server, "operator"),
        "browser": [{"cookie": session_cookie(server, each)} for each in researchers[:_BROWSERS]],
    }
