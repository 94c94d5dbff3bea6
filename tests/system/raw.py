"""A researcher without the SDK: whatever bytes they like, over the same socket."""

import base64
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlmodel import col, select

from api.db import (
    AudienceRow,
    AuditorRow,
    AuditRow,
    ChargeRow,
    ContentRow,
    GroupRow,
    MandateRow,
    PartRow,
    PersonalRow,
    ReleaseRow,
    ResearcherRow,
    StatementRow,
    Store,
)
from api.web.problem_responses import MEDIA_TYPE
from auditor_client.transport.session import Connection
from auditor_client.transport.signed_requests import Statements
from openapi.kinds.kind_union import KindUnion
from openapi.problems import PREFIX, TABLE
from openapi.resources import (
    REQUEST,
    AuditorDraft,
    MandateDraft,
    RegistrationDraft,
    ResearcherDraft,
)
from platform_sim import SOFTWARE_JOB, World
from platform_sim.people import identifiers
from tests.statements import A_FORM
from tests.world import Deployment

JOB = {name: value for name, value in SOFTWARE_JOB.items() if name != "image"}
CSV = "text/csv"
JSON_LINES = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
SALT = base64.b64encode(b"sixteen bytes or more of salt").decode()
Groups = Mapping[str, Sequence[str]]
# What is signed at these paths, and the form of its body.
SIGNED: dict[str, tuple[str, TypeAdapter[Any] | KindUnion[Any]]] = {
    "/v1/audits": ("charge", REQUEST),
    "/v1/studies": ("registration", TypeAdapter(RegistrationDraft)),
    "/v1/regulator/auditors": ("auditor", TypeAdapter(AuditorDraft)),
    "/v1/regulator/researchers": ("researcher", TypeAdapter(ResearcherDraft)),
    "/v1/regulator/mandates": ("mandate", TypeAdapter(MandateDraft)),
}


@dataclass(frozen=True)
class Raw:
    """Plain HTTP with one token, and its holder's key if it is known."""

    http: httpx2.Client
    statements: Statements | None = None

    def call(self, method: str, path: str, **options: Any) -> httpx2.Response:
        return self.http.request(method, path, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.call("GET", path, **options)

    def post(self, path: str, body: object = None, **options: Any) -> httpx2.Response:
        return self.call("POST", path, json=body, **options)

    def made(self, path: str, body: object, **options: Any) -> dict[str, Any]:
        """Return the answer to a post that must succeed."""
        response = self.post(path, body, **options)
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def content(self, **changes: object) -> dict[str, Any]:
        return self.made("/v1/contents", JOB | changes)

    def put(
        self, audience_id: str, label: str, body: Any, media_type: str = CSV, part: int = 0
    ) -> httpx2.Response:
        path = f"/v1/audiences/{audience_id}/groups/{label}/members"
        headers = {"content-type": media_type}
        return self.call("PUT", path, params={"part": part}, content=body, headers=headers)

    def audience(self, groups: Groups, *, seal: bool = True, **draft: object) -> dict[str, Any]:
        """An uploaded audience of user names, by label."""
        made = self.made("/v1/audiences", {"groups": list(groups), **draft})
        for label, names in groups.items():
            response = self.put(made["id"], label, csv(names))
            assert response.is_success, response.text
        return self.seal(made["id"]) if seal else made

    def seal(self, audience_id: str) -> dict[str, Any]:
        return self.made(f"/v1/audiences/{audience_id}/seal", {"salt": SALT})

    def signed(self, path: str, body: object, key: str | None = None) -> dict[str, str]:
        """The headers that make this body a statement; a mere form if it cannot be one."""
        key = key or secrets.token_hex(8)
        action, form = SIGNED[path]
        try:
            parsed: BaseModel | None = form.validate_python(body)
        except ValidationError:
            parsed = None
        if parsed is None or self.statements is None:
            return {"Idempotency-Key": key, "Statement-Signature": A_FORM}
        return self.statements.headers(action, parsed, key)

    def state(self, path: str, body: object, key: str | None = None) -> httpx2.Response:
        """Post what must be signed."""
        return self.post(path, body, headers=self.signed(path, body, key))

    def submit(self, body: object, key: str | None = None) -> httpx2.Response:
        return self.state("/v1/audits", body, key)


def request_for(
    content: Mapping[str, Any], audience: Mapping[str, Any], **changes: object
) -> dict[str, Any]:
    """The body of a small audit, changed as told."""
    bins = {"edges": [0, 0.25, 0.5, 0.75, 1]}
    ids = {"content_id": content["id"], "audience_id": audience["id"]}
    return {"kind": "score-histogram", **ids, "bins": bins, "epsilon": "1", **changes}


def raw(deployment: Deployment, who: Connection | str) -> Raw:
    """Return a plain HTTP client for this token (default: a researcher's); closed with the
    deployment.
    """
    token, statements = (
        (who, None) if isinstance(who, str) else (who._tokens.current(), who._statements)
    )
    headers = {"authorization": f"Bearer {token}"}
    client = httpx2.Client(base_url=deployment.url, headers=headers, timeout=30, verify=False)
    return Raw(deployment.clients.enter_context(client), statements)


def csv(names: Sequence[str], kind: str = "username") -> bytes:
    return "".join(f"{line}\n" for line in (kind, *names)).encode()


def usernames(world: World, count: int, *, strangers: bool = False) -> list[str]:
    """The user names of people on the platform, or of people who are not."""
    holders = world.directory.holders("username")
    people = holders[:count]
    numbers = world.people + people if strangers else people
    names = identifiers.usernames(world.seed, numbers, world.surnames[people])
    return [str(name) for name in names.to_pylist()]


def refused(response: httpx2.Response, code: str, *words: str) -> dict[str, Any]:
    """The problem of a refusal, checked: type, status, title, where, and what it says."""
    status, title = TABLE[code]
    assert (response.status_code, response.headers["content-type"]) == (status, MEDIA_TYPE), (
        response.text
    )
    problem: dict[str, Any] = response.json()
    assert problem["type"] == PREFIX + code
    assert (problem["status"], problem["title"]) == (status, title)
    assert problem.get("instance", response.request.url.path) == response.request.url.path
    assert len(problem["detail"]) > 8
    for word in words:
        assert word in problem["detail"], problem["detail"]
    return problem


_TABLES = (
    AudienceRow,
    AuditRow,
    AuditorRow,
    ChargeRow,
    ContentRow,
    GroupRow,
    MandateRow,
    PartRow,
    PersonalRow,
    ReleaseRow,
    ResearcherRow,
    StatementRow,
)


def stored(store: Store) -> dict[str, list[str]]:
    """Every row that a refused request must leave alone: all but the ledger's."""
    with store.read() as session:
        return {
            str(table.__tablename__): sorted(
                repr(row.model_dump()) for row in session.exec(select(table))
            )
            for table in _TABLES
        }


@contextmanager
def unchanged(store: Store) -> Iterator[None]:
    """Nothing was lost, nothing was kept and nothing was charged in this block."""
    before = stored(matched(store))
    yield
    assert stored(matched(store)) == before


def matched(store: Store) -> Store:
    """Wait until every part that was accepted is matched."""
    waiting = select(PartRow.number).where(col(PartRow.claim).is_not(None))
    for _ in range(2_000):
        with store.read() as session:
            if session.exec(waiting).first() is None:
                return store
        time.sleep(0.005)
    raise AssertionError("a part is not matched")
