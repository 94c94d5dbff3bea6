"""Event streams: bounded, kept alive, and ended with the right to follow them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import httpx2
import pytest
from sqlalchemy import event
from sqlmodel import col, delete, update
from starlette.responses import Response

from api.audits import event_streams
from api.console.security.cookies import Cookies
from api.db import ConsoleSessionRow, ResearcherRow, RevokedTokenRow
from api.identity import sessions
from api.identity.caller import Caller
from api.identity.credentials import check_still_valid
from api.kernel.clock import now
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from platform_sim import World
from tests.system.raw import Raw, raw, refused, request_for, usernames
from tests.world import Deployment, deployed

pytestmark = pytest.mark.long_on_postgresql

PER_RESEARCHER, PER_PROCESS = 3, 5
PATIENCE = 60.0


@pytest.fixture(scope="module")
def host(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """A service whose audits stay charged."""
    limits = {"streams_per_researcher": PER_RESEARCHER, "streams_per_process": PER_PROCESS}
    with deployed(new_database(), platform, embedded_worker=False, **limits) as running:
        yield running


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(event_streams, "KEEP_ALIVE_SECONDS", 0.1)


def charged(me: Raw, world: World) -> str:
    """An audit that nobody runs."""
    audience = me.audience({"g0": usernames(world, 20)})
    answer = me.submit(request_for(me.content(), audience))
    assert answer.is_success, answer.text
    return f"/v1/audits/{answer.json()['id']}"


@contextmanager
def following(me: Raw, audit: str) -> Iterator[Iterator[str]]:
    """The lines of a stream."""
    with me.http.stream("GET", f"{audit}/events", timeout=PATIENCE) as response:
        assert response.status_code == 200
        yield response.iter_lines()


def refusal_of(me: Raw, audit: str) -> httpx2.Response:
    """The answer to a stream that is refused; one that opens would never be read to its end."""
    with me.http.stream("GET", f"{audit}/events", timeout=PATIENCE) as response:
        assert not response.is_success
        response.read()
    return response


def researcher_of(host: Deployment, auditor: Auditor) -> Caller:
    return host.service.auth.authenticator.authenticate(auditor._tokens.current())


def test_a_quiet_stream_is_kept_alive(host: Deployment, world: World) -> None:
    me = raw(host, host.auditor())
    with following(me, charged(me, world)) as lines:
        assert next(lines) == "event: progress"
        assert sum(line == ": keep-alive" for line in _until_kept_alive(lines, 3)) == 3


def _until_kept_alive(lines: Iterator[str], times: int) -> Iterator[str]:
    while times:
        line = next(lines)
        times -= line == ": keep-alive"
        yield line


def revoke_token(host: Deployment, caller: Caller) -> None:
    assert caller.credential is not None
    assert caller.credential.token is not None
    with host.service.store.write() as session:
        session.add(RevokedTokenRow(jti=caller.credential.token, expires_at=now()))


def remove_researcher(host: Deployment, caller: Caller) -> None:
    with host.service.store.write() as session:
        gone = update(ResearcherRow).where(col(ResearcherRow.id) == caller.researcher_id)
        session.execute(gone.values(removed_at=now()))


@pytest.mark.parametrize("end", [revoke_token, remove_researcher])
def test_a_stream_ends_with_the_right_to_follow(
    host: Deployment, world: World, end: Callable[[Deployment, Caller], None]
) -> None:
    auditor, other = host.auditor(), host.auditor()
    me, they = raw(host, auditor), raw(host, other)
    with following(me, charged(me, world)) as mine, following(they, charged(they, world)) as theirs:
        end(host, researcher_of(host, auditor))
        lines = list(mine)  # which ends
        assert lines[0] == "event: progress"
        # Others are not ended.
        list(_until_kept_alive(theirs, 3))


def test_a_stream_ends_when_its_token_expires(
    host: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = raw(host, host.auditor())
    audit = charged(me, world)
    with following(me, audit) as lines:
        next(lines)
        # For the stream alone: the check of the database has its own clock.
        ahead = now() + timedelta(hours=2)
        monkeypatch.setattr(event_streams, "now", lambda: ahead)
        list(lines)


def test_a_stream_of_the_console_ends_with_its_session(host: Deployment, world: World) -> None:
    auditor = host.auditor()
    audit = charged(raw(host, auditor), world)
    with host.service.store.write() as session:
        secret = sessions.open_session(session, researcher_of(host, auditor))
    written = Response()
    Cookies.from_settings(host.service.settings).write(written, "session", secret, 600)
    cookie = {"cookie": written.headers["set-cookie"].partition(";")[0]}
    path = audit.replace("/v1/", "/console/") + "/events"
    client = httpx2.Client(base_url=host.url, headers=cookie, timeout=PATIENCE)
    with client, client.stream("GET", path) as response:
        assert response.status_code == 200, response.read()
        lines = response.iter_lines()
        list(_until_kept_alive(lines, 2))
        with host.service.store.write() as session:
            session.execute(delete(ConsoleSessionRow))
        list(lines)


def test_streams_are_bounded_per_researcher_and_in_total(host: Deployment, world: World) -> None:
    streams = host.service.streams
    wait_for(lambda: not streams._open)
    me, they = raw(host, host.auditor()), raw(host, host.auditor())
    mine, theirs = charged(me, world), charged(they, world)
    held: list[Iterator[str]] = []  # an iterator that is dropped closes its stream
    with ExitStack() as open_streams:
        for _ in range(PER_RESEARCHER):
            held.append(open_streams.enter_context(following(me, mine)))
            next(held[-1])
        answer = refusal_of(me, mine)
        refused(answer, "quota-exceeded")
        assert int(answer.headers["retry-after"]) > 0
        assert me.get(mine).is_success
        for _ in range(PER_PROCESS - PER_RESEARCHER):
            held.append(open_streams.enter_context(following(they, theirs)))
            next(held[-1])
        answer = refusal_of(they, theirs)
        refused(answer, "unavailable")
        assert int(answer.headers["retry-after"]) > 0
    # What has ended makes room.
    wait_for(lambda: not streams._open and not streams._per_researcher)
    with following(me, mine) as lines:
        assert next(lines) == "event: progress"


def test_one_batch_of_queries_serves_all_streams(
    host: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.audits.events._SOON", 10 * PATIENCE)
    monkeypatch.setattr("api.audits.events._LATE", 10 * PATIENCE)
    batches: list[int] = []
    checked = check_still_valid

    def counted(store: object, callers: list[Caller]) -> list[bool]:
        statements: list[str] = []
        mine = threading.get_ident()  # other threads of the service ask as well

        def count(*args: object) -> None:
            if threading.get_ident() == mine:
                statements.append(str(args[2]))

        event.listen(host.service.store.engine, "before_cursor_execute", count)
        try:
            return checked(host.service.store, callers)
        finally:
            event.remove(host.service.store.engine, "before_cursor_execute", count)
            if len(callers) == PER_RESEARCHER:
                batches.append(len([each for each in statements if "SELECT" in each]))

    me = raw(host, host.auditor())
    audit = charged(me, world)
    monkeypatch.setattr(event_streams, "check_still_valid", counted)
    held: list[Iterator[str]] = []  # an iterator that is dropped closes its stream
    with ExitStack() as open_streams:
        for _ in range(PER_RESEARCHER):
            held.append(open_streams.enter_context(following(me, audit)))
            next(held[-1])
        wait_for(lambda: len(batches) >= 2)
    # Researchers and revoked tokens: for three streams as for one.
    assert set(batches) == {2}


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
