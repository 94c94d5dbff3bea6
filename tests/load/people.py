"""Researchers of several auditors, each with a mandate, a content and a small audience.

Everything comes about by HTTP, as a deployment's users do it.
"""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx2
from joserfc.jwk import OKPKey

from auditor_client import Auditor, Regulator
from openapi.resources import Role, ScoreHistogramRequest
from platform_sim import SOFTWARE_JOB
from tests.load.researchers import Researcher
from tests.load.server import Server

AUDITORS = 20
RESEARCHERS_EACH = 2
# Researchers of the first auditor, whose audit is read: bursts should meet the route, and not one
# caller's rate limit.
READERS = 8
# People of each other role, for the same reason.
STAFF = 4
GROUP = 100
BINS = 20
# So small that nobody's lifetime cap and no mandate is used up.
EPSILON = "0.0001"


def vet(server: Server, auditors: int = AUDITORS) -> list[Researcher]:
    """Register auditors with their researchers; researchers of one auditor share its audience."""
    with _first_regulator(server) as regulator:
        made = [
            _auditor(regulator, number, RESEARCHERS_EACH if number else READERS)
            for number in range(auditors)
        ]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda each: _researchers(server, *each), made)
        return [researcher for lab in found for researcher in lab]


def staff(server: Server, role: Role) -> list[dict[str, str]]:
    """Register people of a role other than auditor; return the headers that name them."""
    found = []
    with _first_regulator(server) as regulator:
        for number in range(STAFF):
            key = OKPKey.generate_key("Ed25519")
            jwk = key.as_dict(private=False)
            person = regulator.researchers.add(name=f"Bo {number}", role=role, jwk=jwk)
            with Regulator(server.url, person.id, key) as client:
                found.append({"authorization": f"Bearer {client._tokens.current()}"})
    return found


def _first_regulator(server: Server) -> Regulator:
    return Regulator(server.url, server.ids["regulator"], server.keys["regulator"])


def _auditor(
    regulator: Regulator, number: int, researchers: int
) -> tuple[str, list[tuple[str, OKPKey]]]:
    lab = regulator.auditors.add(f"Lab {number}")
    now = datetime.now(UTC)
    regulator.mandates.grant(
        auditor_id=lab.id,
        purpose="load",
        epsilon_limit="1000",
        valid_from=now - timedelta(days=1),
        valid_until=now + timedelta(days=1),
    )
    people = []
    for each in range(researchers):
        key = OKPKey.generate_key("Ed25519")
        jwk = key.as_dict(private=False)
        person = regulator.researchers.add(name=f"Ada {each}", auditor_id=lab.id, jwk=jwk)
        people.append((person.id, key))
    return lab.id, people


def _researchers(
    server: Server, auditor_id: str, people: Sequence[tuple[str, OKPKey]]
) -> list[Researcher]:
    found: list[Researcher] = []
    request: ScoreHistogramRequest | None = None
    for person, key in people:
        with Auditor(server.url, person, key) as client:
            request = request or _small_request(client)
            found.append(
                Researcher(
                    id=person,
                    auditor_id=auditor_id,
                    jwk=dict(key.as_dict(private=True)),
                    token=client._tokens.current(),
                    origin=client._statements.origin(),
                    content_id=request.content_id,
                    audience_id=request.audience_id,
                    request=request,
                )
            )
    return found


def _small_request(client: Auditor) -> ScoreHistogramRequest:
    content = client.contents.upload(**SOFTWARE_JOB)
    audience = client.audiences.sample("gender", {"woman": GROUP, "man": GROUP})
    return client.audits.request(content, audience, bins=BINS, epsilon=EPSILON)


def session_cookie(server: Server, researcher: Researcher) -> str:
    """Sign in to the console as this researcher, and return the cookie header."""
    with Auditor(server.url, researcher.id, researcher.key) as client:
        link = client.console_link().url
    with httpx2.Client(base_url=server.url, headers={"Accept": "text/html"}) as http:
        fields = dict(re.findall(r'name="(token|code)" value="([^"]+)"', http.get(link).text))
        answer = http.post("/console/sign-in", data=fields)
        assert answer.status_code == 303, answer.text
        return "; ".join(f"{name}={value}" for name, value in http.cookies.items())
