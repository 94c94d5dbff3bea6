"""Limits: sizes of bodies and audiences, and the rate of requests."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from fastapi import FastAPI
from starlette.types import Message

from api.app.app import create_app
from api.platforms.interfaces import Platform
from auditor_client.errors import InputError
from tests.refusals import refuses
from tests.system.raw import CSV, JOB, JSON_LINES, Raw, csv, raw, refused, unchanged
from tests.world import Deployment, deployed, sqlite_url

BODY, PART, MEMBERS = 4_096, 2_048, 10


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    url = sqlite_url(tmp_path_factory.mktemp("tight"))
    limits = {"max_body_bytes": BODY, "max_part_bytes": PART, "max_members": MEMBERS}
    with deployed(url, platform, **limits) as running:
        yield running


@pytest.fixture(scope="module")
def me(tight: Deployment) -> Raw:
    return raw(tight, tight.auditor())


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 512):
        yield b" " * 512


@pytest.mark.parametrize("streamed", [False, True], ids=["announced", "streamed"])
@pytest.mark.parametrize("path", ["/v1/contents", "/v1/audiences", "/v1/audits/price"])
def test_a_body_over_the_limit_is_refused(
    tight: Deployment, me: Raw, path: str, streamed: bool
) -> None:
    body = chunks(2 * BODY) if streamed else b" " * (BODY + 1)
    headers = {"content-type": "application/json"}
    with unchanged(tight.service.store):
        answer = me.call("POST", path, content=body, headers=headers)
        problem = refused(answer, "too-large", str(BODY))
    assert problem["limit"] == BODY
    assert me.post("/v1/contents", JOB).is_success


@pytest.mark.parametrize("streamed", [False, True], ids=["announced", "streamed"])
def test_a_part_over_the_limit_is_refused(tight: Deployment, me: Raw, streamed: bool) -> None:
    audience = me.audience({"g0": ["ada"]}, seal=False)
    body = chunks(2 * PART) if streamed else b" " * (PART + 1)
    with unchanged(tight.service.store):
        problem = refused(me.put(audience["id"], "g0", body), "too-large", str(PART))
    assert problem["limit"] == PART
    assert me.put(audience["id"], "g0", b"username\nada\n").is_success


def test_an_audience_over_the_limit_is_refused_and_can_go_on(tight: Deployment, me: Raw) -> None:
    audience = me.made("/v1/audiences", {"groups": ["g0", "g1"]})
    names = [f"name{number}" for number in range(MEMBERS + 1)]
    with unchanged(tight.service.store):
        answer = me.put(audience["id"], "g0", csv(names))
        refused(answer, "audience-too-large", str(MEMBERS + 1), str(MEMBERS))
    assert me.put(audience["id"], "g0", csv(names[:6])).is_success
    assert me.put(audience["id"], "g1", csv(names[:3])).is_success
    with unchanged(tight.service.store):  # over all groups and parts together
        refused(me.put(audience["id"], "g1", csv(names[:2]), part=1), "audience-too-large")
    # A part replaces the earlier part of its number: the six do not count in addition to the seven.
    assert me.put(audience["id"], "g0", csv(names[:7])).is_success
    assert me.seal(audience["id"])["state"] == "sealed"


ROWS = 100_000
ROW = {CSV: b"a\n", JSON_LINES: b"{}\n"}


async def rows_read(app: FastAPI, me: Raw, audience: str, media_type: str) -> tuple[int, str]:
    """Send far too many rows, and count those that the service takes before it answers."""
    chunk, taken, sent = ROW[media_type] * 1_000, 0, b""

    async def receive() -> Message:
        nonlocal taken
        taken += 1_000
        return {"type": "http.request", "body": chunk, "more_body": taken < 50 * ROWS}

    async def send(message: Message) -> None:
        nonlocal sent
        sent += message.get("body", b"")

    path = f"/v1/audiences/{audience}/groups/g0/members"
    token = me.http.headers["authorization"].encode()
    headers = [(b"content-type", media_type.encode()), (b"authorization", token)]
    scope = {"type": "http", "method": "PUT", "path": path, "raw_path": path.encode()}
    scope |= {"headers": headers, "query_string": b"", "client": ("127.0.0.1", 1)}
    await app(scope | {"scheme": "http", "http_version": "1.1"}, receive, send)
    return taken, json.loads(sent)["type"]


@pytest.mark.parametrize("media_type", ROW)
@pytest.mark.parametrize(
    ("limits", "refusal"),
    [({"max_part_rows": ROWS}, "too-large"), ({"max_members": ROWS}, "audience-too-large")],
)
def test_a_part_of_too_many_rows_is_refused_before_they_are_read(
    tmp_path: Path, platform: Platform, limits: dict[str, int], media_type: str, refusal: str
) -> None:
    with deployed(sqlite_url(tmp_path), platform, **limits) as running:
        me = raw(running, running.auditor())
        audience = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
        app = create_app(running.service)
        with unchanged(running.service.store):
            taken, kind = asyncio.run(rows_read(app, me, audience, media_type))
        assert kind.endswith(f":{refusal}")
        assert ROWS <= taken <= ROWS + 2_000
        # The answer arrives over a socket too, although the client is still sending.
        answer = me.put(audience, "g0", b"username\n" + b"a\n" * 5 * ROWS)
        refused(answer, refusal)
        assert me.put(audience, "g0", b"username\n" + b"a\n" * ROWS).is_success


def test_the_sdk_refuses_too_many_members_before_it_sends_any(tight: Deployment) -> None:
    auditor = tight.auditor()
    rows = [f"name{number}" for number in range(MEMBERS + 1)]
    frame = pa.table({"username": rows, "group": ["all"] * len(rows)})
    with unchanged(tight.service.store), refuses(InputError, "audience-too-large", 10):
        auditor.audiences.upload(frame, id="username", by="group", progress=False)


def test_too_many_requests_get_a_retry_after(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform
) -> None:
    url = sqlite_url(tmp_path_factory.mktemp("rate"))
    with deployed(url, platform, requests_per_minute=60, burst=8) as deployment:
        hasty, calm = (raw(deployment, deployment.auditor(epsilon="0")) for _ in range(2))
        answers = [hasty.get("/v1/budget") for _ in range(30)]
        late = [answer for answer in answers if answer.status_code == 429]
        assert {answer.status_code for answer in answers[:8]} == {200}
        refused(late[-1], "rate-limited", "60", "again in")
        pause = int(late[-1].headers["retry-after"])
        assert pause == 1
        assert calm.get("/v1/budget").is_success
        assert hasty.call("GET", "/v1/catalogue").is_success  # public, and not counted
        time.sleep(pause)
        assert hasty.get("/v1/budget").is_success


def test_refused_uploads_count_too(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform
) -> None:
    url = sqlite_url(tmp_path_factory.mktemp("rate"))
    with deployed(url, platform, requests_per_minute=1, burst=4) as deployment:
        me = raw(deployment, deployment.auditor(epsilon="0"))
        audience = me.made("/v1/audiences", {"groups": ["g0"]})
        answers = [me.put(audience["id"], "g0", b"", CSV) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [422, 422, 422, 429]
        assert 50 <= int(answers[-1].headers["retry-after"]) <= 60
