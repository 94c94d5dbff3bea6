"""Overload and hostile traffic: parallel reads, shedding, slow and unauthenticated bodies."""

import asyncio
import os
import select
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from api.app.connections import MOST_UNREAD, limited_protocol
from api.platforms.interfaces import Platform
from tests.durability.processes import until
from tests.load.hostile import leave_unread
from tests.load.server import DESCRIPTORS, served
from tests.system.raw import Raw, raw, refused
from tests.system.scene import Scene
from tests.world import Deployment, deployed, free_port, listening, sqlite_url

PARALLEL = 200


@pytest.fixture
def impatient(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """A service that waits for half a second for the first bytes of a body."""
    with deployed(new_database(), platform, body_seconds=0.5) as running:
        yield running


def in_parallel(callers: Sequence[Raw], path: str, number: int) -> list[httpx2.Response]:
    """As many requests at once, of these callers in turn."""
    tokens = [each.http.headers["authorization"] for each in callers]

    async def get_all() -> list[httpx2.Response]:
        limits = httpx2.Limits(max_connections=number)
        options: dict[str, Any] = {"base_url": callers[0].http.base_url, "limits": limits}
        async with httpx2.AsyncClient(timeout=60, **options) as client:
            asked = (
                client.get(path, headers={"authorization": tokens[each % len(tokens)]})
                for each in range(number)
            )
            return await asyncio.gather(*asked)

    return asyncio.run(get_all())


@pytest.fixture(scope="module")
def callers(deployment: Deployment, scene: Scene) -> list[Raw]:
    """Researchers of one auditor, and a regulator."""
    people = [raw(deployment, deployment.researcher(scene.auditor_id)) for _ in range(12)]
    return [*people, raw(deployment, deployment.regulator)]


@pytest.mark.long
@pytest.mark.parametrize("path", ["/v1/audits/{audit}", "/v1/ledger/entries", "/v1/me"])
def test_parallel_reads_are_answered_or_shed(scene: Scene, callers: list[Raw], path: str) -> None:
    """With connections that were kept until the answer was sent, this took a minute."""
    path = path.format(audit=scene.audit["id"])
    asked = callers[:-1] if "audits" in path else callers
    answers = in_parallel(asked, path, PARALLEL)
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) <= {200, 429, 503}, statuses
    assert statuses[200] >= 8
    for answer in answers:
        assert answer.is_success or answer.headers["retry-after"]


def opened(deployment: Deployment, request: bytes) -> socket.socket:
    host, port = deployment.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), 30)
    connection.sendall(request)
    return connection


def answer_of(connection: socket.socket) -> bytes:
    """All that the service sends until it closes the connection."""
    connection.settimeout(30)
    received = b""
    with connection:
        while chunk := connection.recv(4096):
            received += chunk
    return received


def request_line(method: str, path: str, *headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: here", *headers, "", ""]
    return "\r\n".join(lines).encode()


JSON = "Content-Type: application/json"
# More bytes than fit into the buffers of a connection.
LARGE = 32 * 1024 * 1024


def test_a_body_without_a_token_is_refused_before_it_is_read(impatient: Deployment) -> None:
    """The body never comes; the refusal does not wait for it."""
    asked = request_line("POST", "/v1/audits", JSON, "Content-Length: 1000")
    assert answer_of(opened(impatient, asked)).startswith(b"HTTP/1.1 401")


def test_a_body_with_a_bad_token_is_refused_before_it_is_read(impatient: Deployment) -> None:
    headers = (JSON, "Authorization: Bearer forged", "Content-Length: 1000")
    asked = request_line("PUT", "/v1/audiences/a/groups/g/members", *headers)
    assert answer_of(opened(impatient, asked)).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("path", ["/oauth/token", "/v1/applications"])
def test_a_slow_body_of_a_stranger_is_given_up(impatient: Deployment, path: str) -> None:
    asked = request_line("POST", path, JSON, "Content-Length: 1000") + b"{"
    answer = answer_of(opened(impatient, asked))
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"request-timeout" in answer


def test_a_slow_body_of_a_researcher_is_given_up(impatient: Deployment) -> None:
    bearer = raw(impatient, impatient.regulator).http.headers["authorization"]
    headers = (JSON, f"Authorization: {bearer}", "Content-Length: 1000")
    asked = request_line("POST", "/v1/regulator/auditors", *headers) + b"{"
    assert answer_of(opened(impatient, asked)).startswith(b"HTTP/1.1 408")


def test_a_body_has_a_time_limit_in_all(
    platform: Platform, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An upload at the lowest rate would keep its slot for an hour."""
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    limits = {"body_bytes_per_second": 1, "whole_body_seconds": 1.0}
    with deployed(url, platform, **limits) as running:
        me = raw(running, running.auditor())
        audience = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
        token = f"Authorization: {me.http.headers['authorization']}"
        path = f"/v1/audiences/{audience}/groups/g0/members?part=0"
        asked = request_line("PUT", path, token, "Content-Type: text/csv", "Content-Length: 1000")
        connection = opened(running, asked + b"username")
        for _ in range(8):
            time.sleep(0.2)
            with suppress(OSError):
                connection.sendall(b"x")
        assert b"408" in answer_of_or_reset(connection)[:20]


def test_a_stranger_may_send_only_a_small_body(sqlite_deployment: Deployment) -> None:
    large = b"x" * (sqlite_deployment.service.settings.anonymous_body_bytes + 1)
    refused(httpx2.post(f"{sqlite_deployment.url}/v1/applications", content=large), "too-large")


def test_slow_bodies_take_places_of_their_own(impatient: Deployment) -> None:
    """More strangers send slowly than there are places for them, and others are served."""
    asked = request_line("POST", "/oauth/token", JSON, "Content-Length: 1000")
    with ExitStack() as slow:
        for _ in range(100):
            slow.enter_context(opened(impatient, asked))
        assert httpx2.get(f"{impatient.url}/v1/catalogue").status_code == 200
        assert impatient.regulator.auditors.list() == []


def test_unread_answers_do_not_shut_sign_in(
    platform: Platform, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """More sockets ask without reading than there are slots for strangers.

    `make load` measures how fast sign-in answers; here a busy machine may take long.
    """
    url = sqlite_url(tmp_path_factory.mktemp("sqlite"))
    with deployed(url, platform, request_threads=4) as running:
        answers = leave_unread(running.url, within=60.0)
    assert {answer.status for answer in answers} <= {400, 401}


def test_an_upload_whose_sender_leaves_is_no_error_of_the_service(
    sqlite_deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    me = raw(sqlite_deployment, sqlite_deployment.auditor())
    audience = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    token = f"Authorization: {me.http.headers['authorization']}"
    path = f"/v1/audiences/{audience}/groups/g0/members?part=0"
    asked = request_line("PUT", path, token, "Content-Type: text/csv", "Content-Length: 1000")
    with caplog.at_level("INFO", "api.access"):
        opened(sqlite_deployment, asked + b"ada").close()
        until(lambda: "request" in caplog.messages, "the line in the access log")
    assert "request.failed" not in caplog.text


class TestConnections:
    """The protocol alone, with an application that answers at once."""

    @staticmethod
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        large = scope["path"] == "/large"
        size = [(b"content-length", str(LARGE).encode())] if large else []
        status = 200 if large else 204
        await send({"type": "http.response.start", "status": status, "headers": size})
        await send({"type": "http.response.body", "body": bytes(LARGE) if large else b""})

    def serve(
        self,
        *,
        headers: float = 30,
        answers: float = 30,
        most: int = 100,
        unread: int = MOST_UNREAD,
    ) -> Any:
        port = free_port()
        protocol = limited_protocol(headers, answers, most, unread)
        running = listening(self.app, port, http=protocol, timeout_keep_alive=1, lifespan="off")
        return running, port

    def connect(self, port: int, sent: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", port), 30)
        connection.sendall(sent)
        return connection

    @pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "])
    def test_slow_headers_are_given_up(self, sent: bytes) -> None:
        running, port = self.serve(headers=0.2)
        with running:
            assert answer_of_or_reset(self.connect(port, sent)) == b""

    def test_slow_headers_of_a_second_request_are_given_up(self) -> None:
        running, port = self.serve(headers=0.2)
        with running, self.connect(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n") as connection:
            assert connection.recv(4096).startswith(b"HTTP/1.1 204")
            connection.sendall(b"GET /")
            assert answer_of_or_reset(connection) == b""

    def test_an_idle_connection_is_closed(self) -> None:
        running, port = self.serve()
        with running:
            connection = self.connect(port, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert answer_of_or_reset(connection).startswith(b"HTTP/1.1 204")

    def test_connections_that_come_together_are_limited_together(self) -> None:
        running, port = self.serve(most=20)
        with running, ExitStack() as slow:
            held = [slow.enter_context(self.connect(port)) for _ in range(200)]
            until(lambda: sum(map(is_open, held)) <= 20, "the others to be dropped")

    def test_too_many_slow_connections_make_room_for_a_new_one(self) -> None:
        running, port = self.serve(most=20)
        with running, ExitStack() as slow:
            held = [slow.enter_context(self.connect(port, b"GET /")) for _ in range(40)]
            for _ in range(3):
                answer = httpx2.get(f"http://127.0.0.1:{port}/")
                assert answer.status_code == 204
            assert answer_of_or_reset(held[0]) == b""

    def test_an_unread_body_that_goes_on_after_the_answer_is_given_up(self) -> None:
        running, port = self.serve(headers=0.3)
        asked = b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
        with running, self.connect(port, asked) as connection:
            assert connection.recv(4096).startswith(b"HTTP/1.1 204")
            connection.sendall(b"x")  # it would stop the timer of idle connections
            connection.settimeout(10)
            assert answer_of_or_reset(connection) == b""

    def test_a_body_that_is_finished_after_the_answer_does_no_harm(self) -> None:
        running, port = self.serve()
        asked = b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
        with running, self.connect(port, asked) as connection:
            assert connection.recv(4096).startswith(b"HTTP/1.1 204")
            connection.sendall(b"xyzGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 204")

    def test_too_many_unread_answers_make_room_for_others(self) -> None:
        running, port = self.serve(unread=3)
        asked = b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
        with running, ExitStack() as stack:
            held = [stack.enter_context(self.connect(port, asked)) for _ in range(6)]
            first = all_or_reset(held[0])
            assert first < LARGE
            assert len(httpx2.get(f"http://127.0.0.1:{port}/large").content) == LARGE
            assert all_or_reset(held[-1]) >= LARGE

    def test_idle_connections_make_room_before_those_that_send_a_body(self) -> None:
        running, port = self.serve(most=2)
        sending = b"POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
        with running, ExitStack() as stack:
            first = stack.enter_context(self.connect(port, sending))
            first.recv(1)
            idle = stack.enter_context(self.connect(port))
            time.sleep(0.2)
            assert httpx2.get(f"http://127.0.0.1:{port}/").status_code == 204
            assert answer_of_or_reset(idle) == b""
            assert all_or_reset(first) >= LARGE - 1


def all_or_reset(connection: socket.socket) -> int:
    """The number of bytes that are sent until the connection is closed, reset or idle."""
    connection.settimeout(3)
    read = 0
    with suppress(ConnectionResetError, TimeoutError):
        while chunk := connection.recv(1 << 20):
            read += len(chunk)
    return read


@pytest.mark.long
def test_more_connections_than_files_do_not_stop_the_server_from_accepting(
    tmp_path: Path,
) -> None:
    """All of them wait when the server comes to accept; out of files, it would pause for 1 s."""
    with served(tmp_path, sqlite_url(tmp_path)) as server, ExitStack() as slow:
        host, port = "127.0.0.1", urlsplit(server.url).port
        os.kill(server.pid, signal.SIGSTOP)
        try:
            for _ in range(DESCRIPTORS + 100):
                connection = slow.enter_context(socket.create_connection((host, port), 30))
                connection.sendall(b"GET /")
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert httpx2.get(f"{server.url}/healthz", timeout=60).status_code == 200
        assert '"event": "asyncio"' not in (tmp_path / "log").read_text()


def answer_of_or_reset(connection: socket.socket) -> bytes:
    """All that is sent; nothing more once the connection is reset."""
    try:
        return answer_of(connection)
    except ConnectionResetError:
        return b""


def is_open(connection: socket.socket) -> bool:
    """Whether the server has not closed the connection; it has sent nothing."""
    return not select.select([connection], [], [], 0)[0]
