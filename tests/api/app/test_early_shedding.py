"""Refusals before a request is parsed: those of the gate, and only where nothing is unclear."""

import asyncio
import io
import json
import logging
from typing import Any, cast
from unittest.mock import Mock

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from api.app import early_shedding
from api.app.admission import RetryAfter, Slots
from api.app.callers import PresentedCredential
from api.app.capacity import Share
from api.app.connections import LimitedProtocol, limited_protocol
from api.app.early_shedding import EarlyShedding, WholeRequest
from api.app.gate import Gate
from api.kernel.errors import OverloadedError
from api.telemetry.logging import JsonLines
from tests.api.app.asgi import Request, settle, started
from tests.api.app.test_gate import (
    READS,
    SETTINGS,
    SHARES,
    WRITES,
    App,
    Sessions,
    bearer,
    caller_of,
    run,
)

BUSY = {"Retry-After": "1"}
BODY = b'{"kind": "score-histogram"}'


def request_of(
    *headers: str, line: str = "POST /v1/audits/price HTTP/1.1", body: bytes = b""
) -> bytes:
    lines = [line, "host: x", *headers]
    if body:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def always() -> tuple[EarlyShedding, list[WholeRequest]]:
    """Return shedding that refuses everything it can read, and the list of what it has read."""
    seen: list[WholeRequest] = []

    def judge(request: WholeRequest) -> OverloadedError:
        seen.append(request)
        return OverloadedError("The service is busy.", headers=BUSY)

    return EarlyShedding(judge, lambda: True), seen


async def connected(early: EarlyShedding) -> LimitedProtocol:
    protocol = limited_protocol(30, 30, 100, early=early)
    config, state = Config(Mock()), ServerState()
    config.load()
    made = protocol(config=config, server_state=state, app_state={})
    transport = Mock()
    transport.is_closing.return_value = False
    transport.get_extra_info.side_effect = lambda name, *_: {
        "peername": ("192.0.2.1", 5),
        "sockname": ("192.0.2.2", 80),
    }.get(name)
    made.connection_made(transport)
    return made


def written(protocol: LimitedProtocol) -> bytes:
    calls = cast("Mock", protocol.transport).write.call_args_list
    return b"".join(call.args[0] for call in calls)


def test_a_plain_request_is_refused_and_the_connection_is_idle_again() -> None:
    async def flood() -> None:
        early, seen = always()
        protocol = await connected(early)
        for _ in range(3):
            protocol.data_received(request_of("Authorization: Bearer x", body=BODY))
        answers = written(protocol).split(b"HTTP/1.1 ")[1:]
        assert [each[:4] for each in answers] == [b"503 "] * 3
        head, _, body = answers[0].partition(b"\r\n\r\n")
        assert b"retry-after: 1" in head
        assert f"content-length: {len(body)}".encode() in head
        assert json.loads(body)["reason"] == "overload"
        [first, *_] = seen
        assert first == WholeRequest(
            "POST", "/v1/audits/price", PresentedCredential("Bearer x"), "network:192.0.2.1"
        )
        assert protocol.timeout_keep_alive_task is not None
        assert protocol.cycle is None
        protocol.connection_lost(None)

    run(flood())


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request_of(body=BODY)[:-1], id="body-incomplete"),
        pytest.param(request_of(body=BODY) + b"GET / HTTP/1.1\r\n", id="another-follows"),
        pytest.param(request_of("content-length: 3", body=BODY), id="two-lengths"),
        pytest.param(request_of("content-length: 3", "content-length: 3"), id="length-twice"),
        pytest.param(request_of("transfer-encoding: chunked"), id="chunked"),
        pytest.param(request_of("expect: 100-continue"), id="expect"),
        pytest.param(request_of("upgrade: websocket"), id="upgrade"),
        pytest.param(request_of("connection: close"), id="close"),
        pytest.param(
            request_of("authorization: Bearer a", "authorization: Bearer b"), id="two-tokens"
        ),
        pytest.param(request_of("authorization: Bearer a", " folded"), id="folded"),
        pytest.param(request_of("cookie: session=x"), id="cookie"),
        pytest.param(request_of(line="POST /v1/audits/%70rice HTTP/1.1"), id="escaped"),
        pytest.param(request_of(line="POST /v1/audits/price HTTP/1.0"), id="http-1.0"),
        pytest.param(request_of(line="TRACE / HTTP/1.1"), id="method"),
        pytest.param(b"GET / HTTP/1.1\r\nhost", id="headers-incomplete"),
        pytest.param(request_of(f"x: {'y' * 20_000}"), id="large"),
    ],
)
def test_a_request_that_is_not_plain_takes_the_usual_way(data: bytes) -> None:
    early, seen = always()
    assert early.answer(data, "192.0.2.1") is None
    assert seen == []


def test_the_second_half_of_a_request_is_not_read_as_one() -> None:
    async def split() -> None:
        early, seen = always()
        protocol = await connected(early)
        protocol.data_received(b"POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n")
        protocol.data_received(request_of())
        assert seen == []
        protocol.connection_lost(None)

    run(split())


def test_who_does_not_read_refusals_is_not_sent_more() -> None:
    async def flood() -> None:
        early, seen = always()
        protocol = await connected(early)
        protocol.pause_writing()
        protocol.data_received(request_of())
        assert seen == []
        protocol.connection_lost(None)

    run(flood())


def test_a_stranger_behind_a_proxy_is_not_counted_as_the_proxy() -> None:
    async def forward() -> None:
        early, seen = always()
        data = request_of("X-Forwarded-For: 198.51.100.7")
        assert early.answer(data, "192.0.2.1") is not None
        assert seen[0].network_key is None

    run(forward())


def test_nothing_is_read_while_nothing_is_shed() -> None:
    _, seen = always()
    judge = Mock()
    assert EarlyShedding(judge, lambda: False).answer(request_of(), "192.0.2.1") is None
    assert not judge.called
    assert seen == []


def test_refusals_are_logged_once_with_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("api.access")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "level", logging.INFO)
    monkeypatch.setattr(early_shedding, "_LOG_SECONDS", 0.05)

    async def flood() -> None:
        early, _ = always()
        for _ in range(7):
            assert early.answer(request_of(), "192.0.2.1") is not None
        await asyncio.sleep(0.2)

    run(flood())
    (line,) = map(json.loads, lines.getvalue().splitlines())
    assert (line["event"], line["status"], line["requests"]) == ("requests.shed", 503, 7)


# --- the gate's judgement


def quoting(token: str | None = "bob") -> bytes:
    return request_of(*([] if token is None else [f"authorization: Bearer {token}"]), body=BODY)


def asked(early: EarlyShedding, data: bytes) -> int | None:
    """Return the status of an early refusal."""
    answer = early.answer(data, "192.0.2.1")
    return None if answer is None else int(answer[0].split()[1])


def test_the_gate_refuses_early_what_it_would_refuse() -> None:
    async def overload() -> None:
        early, app = EarlyShedding(), App(waits=True)
        gate = Gate(app, SETTINGS, caller_of, Sessions(), early)
        assert asked(early, quoting()) is None
        charges = [
            started(Request("POST", "/v1/audits", bearer("ada")), gate)
            for _ in range(WRITES["requests"])
        ]
        await settle()
        # Nobody has verified this token yet: the gate does, before it sheds.
        assert asked(early, quoting()) is None
        assert await Request("POST", "/v1/audits/price", bearer("bob")).to(gate) == 503
        assert asked(early, quoting()) == 503
        # A request of a class with free slots goes on.
        read = request_of("authorization: Bearer bob", line="GET /v1/me HTTP/1.1")
        assert asked(early, read) is None
        app.go_on.set()
        await asyncio.gather(*charges)
        assert asked(early, quoting()) is None

    run(overload())


def test_the_gate_refuses_early_a_caller_with_too_many_requests() -> None:
    async def overload() -> None:
        early, app = EarlyShedding(), App(waits=True)
        gate = Gate(app, SETTINGS, caller_of, Sessions(), early)
        most = SHARES["requests"].per_caller
        mine = [started(Request("GET", "/v1/me", bearer("ada")), gate) for _ in range(most)]
        await settle()
        read = "GET /v1/me HTTP/1.1"
        assert asked(early, request_of("authorization: Bearer ada", line=read)) == 429
        assert asked(early, request_of("authorization: Bearer bob", line=read)) is None
        for path in ("/healthz", "/readyz", "/console/audits"):
            assert asked(early, request_of(line=f"GET {path} HTTP/1.1")) is None
        app.go_on.set()
        await asyncio.gather(*mine)
        assert asked(early, request_of("authorization: Bearer ada", line=read)) is None

    run(overload())


def test_operators_are_not_refused_for_the_requests_of_others() -> None:
    async def overload() -> None:
        early, app = EarlyShedding(), App()
        gate = Gate(app, SETTINGS, caller_of, Sessions(), early)
        for name in ("ada", "bob", "olga"):
            assert await Request("GET", "/v1/me", bearer(name)).to(gate) == 200
        app.go_on.clear()
        each = SHARES["requests"].per_caller
        asked_for = [Request("GET", "/v1/me", bearer(name)) for name in ("ada", "bob") * each]
        busy = [started(request, gate) for request in asked_for]
        await settle()
        assert app.in_progress == READS["requests"]
        stop = request_of("authorization: Bearer olga", line="POST /v1/operator/stops HTTP/1.1")
        read = request_of("authorization: Bearer ada", line="GET /v1/me HTTP/1.1")
        assert asked(early, stop) is None
        assert asked(early, read) == 429
        app.go_on.set()
        await asyncio.gather(*busy)

    run(overload())


# --- how long the refused should wait


def test_a_class_that_refuses_many_asks_for_a_longer_wait() -> None:
    now: list[float] = [100.0]
    wait = RetryAfter(lambda: now[0])
    assert {wait.next() for _ in range(85)} == {"1"}
    now[0] += 1
    assert wait.next() == "3"
    now[0] += 1
    assert wait.next() == "1"
    for _ in range(10_000):
        wait.next()
    now[0] += 1
    assert wait.next() == "5"
    now[0] += 10
    assert wait.next() == "1"


def test_callers_at_their_limit_are_counted_down_again() -> None:
    slots = Slots("requests", Share(9, 2))
    for _ in range(2):
        slots.take("ada")
    slots.take("bob")
    assert slots.may_refuse
    slots.give_back("ada")
    assert not slots.may_refuse
    slots.take("ada")
    assert slots.may_refuse
    for name in ("ada", "ada", "bob"):
        slots.give_back(name)
    assert not slots.may_refuse


def test_refusals_are_logged_once_a_second(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("api.app.early_shedding._LOG_SECONDS", 0.01)
    caplog.set_level("INFO", "api.access")

    async def flood() -> list[Any]:
        early, _ = always()
        for _ in range(7):
            early.answer(request_of(), "192.0.2.1")
        while not caplog.records:
            await asyncio.sleep(0.01)
        return caplog.records

    records = asyncio.run(flood())
    assert [(each.message, each.requests, each.status) for each in records] == [
        ("requests.shed", 7, 503)
    ]
