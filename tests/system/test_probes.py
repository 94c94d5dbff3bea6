"""Probes of a service: they follow the background write, and no overload touches them."""

import asyncio
import base64
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path

import anyio.to_thread
import httpx2
import pytest
from sqlalchemy import event
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from api.app.app import create_app
from api.app.container import Container, build_container
from api.db import Store
from api.kernel.settings import load_settings
from api.operations.setup import write_settings
from api.platforms.http.messages import CALLS, FACTS
from api.platforms.interfaces import Platform
from api.web.problem_responses import MEDIA_TYPE
from tests.databases import prepare
from tests.durability.processes import until
from tests.system.raw import refused
from tests.world import Deployment, deployed, free_port, make_settings, sqlite_url

# Quick, and long enough for a busy machine to write within three of them.
INTERVAL = 0.5


@pytest.fixture
def running(platform: Platform, tmp_path: Path) -> Iterator[Deployment]:
    quiet = {"embedded_worker": False, "checkpoint_seconds": 60.0, "poll_seconds": 60.0}
    with deployed(sqlite_url(tmp_path), platform, heartbeat_seconds=INTERVAL, **quiet) as made:
        yield made


def probe(running: Deployment, path: str = "/readyz") -> httpx2.Response:
    return httpx2.get(f"{running.url}{path}")


def until_ready(running: Deployment) -> httpx2.Response:
    """Wait for a background write in time: on a busy machine one may be late."""
    answers: list[httpx2.Response] = []

    def ready() -> bool:
        answers.append(probe(running))
        return answers[-1].is_success

    until(ready, "a write in time")
    return answers[-1]


@contextmanager
def locked(running: Deployment, folder: Path) -> Iterator[None]:
    """Another program holds SQLite's write lock."""
    with closing(sqlite3.connect(folder / "service.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def read_only(running: Deployment, _: Path) -> Iterator[None]:
    """No connection may write any more, as on a file system that was remounted."""
    engine = running.service.store.engine
    setting = ["ON"]

    def limit(connection: object, _record: object, _proxy: object) -> None:
        connection.execute(f"PRAGMA query_only={setting[0]}")  # type: ignore[attr-defined]

    event.listen(engine, "checkout", limit)
    yield
    setting[0] = "OFF"


@pytest.mark.parametrize("broken", [locked, read_only])
def test_readiness_follows_the_database_and_recovers(
    running: Deployment, tmp_path: Path, broken: Callable[..., AbstractContextManager[None]]
) -> None:
    until_ready(running)
    expected = "ok" if broken is locked else "failed"
    with broken(running, tmp_path):
        until(lambda: probe(running).json().get("last_write") == expected, "the last write")
        until(lambda: probe(running).status_code == 503, "the process to notice")
        answer = probe(running)
        refused(answer, "unavailable", "background write")
        told = answer.json()
        assert told["last_write"] == expected
        assert told["limit_seconds"] == 3 * INTERVAL
        assert told["age_seconds"] >= (3 * INTERVAL if broken is locked else 0)
        assert int(answer.headers["retry-after"]) > 0
        assert probe(running, "/healthz").status_code == 200
    until_ready(running)


def test_readiness_says_the_result_and_its_age_and_nothing_else(running: Deployment) -> None:
    told = until_ready(running).json()
    assert told.keys() == {"status", "last_write", "age_seconds", "limit_seconds"}
    assert (told["status"], told["last_write"]) == ("ok", "ok")
    assert 0 <= told["age_seconds"] <= told["limit_seconds"]


# --- overload


@contextmanager
def without_connections(service: Container) -> Iterator[None]:
    """Every connection of the pool is taken."""
    engine = service.store.engine
    with ExitStack() as taken:
        with suppress(PoolTimeoutError):
            while True:
                taken.enter_context(engine.connect())
        yield


async def ask_without_threads(service: Container) -> list[httpx2.Response]:
    """Ask all probes, ready and not, while the one thread of the pool is taken."""
    release = threading.Event()
    anyio.to_thread.current_default_thread_limiter().total_tokens = 1
    taken = asyncio.create_task(anyio.to_thread.run_sync(release.wait))
    await asyncio.sleep(0)
    transport = httpx2.ASGITransport(create_app(service))
    try:
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1") as client:
            answers = []
            for succeeded in (True, False):
                service.writes.record(succeeded=succeeded)
                answers += [await client.get(path) for path in ("/healthz", "/readyz")]
            return answers
    finally:
        release.set()
        await taken


def test_probes_need_no_thread_and_no_connection(
    platform: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(sqlite_url(tmp_path), "http://127.0.0.1:1", console=False)
    service = build_container(settings, platform)
    prepare(service.store)
    monkeypatch.setattr(service.store.engine.pool, "_timeout", 0.1)
    with without_connections(service):
        answers = asyncio.run(asyncio.wait_for(ask_without_threads(service), 60))
    service.store.close()
    assert [answer.status_code for answer in answers] == [200, 200, 200, 503]
    assert answers[-1].headers["content-type"] == MEDIA_TYPE


# --- processes of their own


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings of a deployment whose database is there."""
    path = tmp_path / "settings.toml"
    key = base64.urlsafe_b64encode(os.urandom(32))
    options = {"people": 5_000}
    write_settings(path, sqlite_url(tmp_path), "http://127.0.0.1:1", key, options)
    prepare(Store(load_settings(path).database_url))
    return path


@contextmanager
def started(command: str, config: Path, *options: str) -> Iterator[tuple[int, int]]:
    """A process of the command that is ready, and its metrics port."""
    port = free_port()
    line = [sys.executable, "-m", "api.operations.cli", command, "--config", str(config), *options]
    environment = os.environ | {"PLATFORM_AUDITOR_HEARTBEAT_SECONDS": str(INTERVAL)}
    with (config.parent / "log").open("wb") as log:
        process = subprocess.Popen(
            [*line, "--metrics-port", str(port)], stdout=log, stderr=log, env=environment
        )
    try:
        while readiness(port) != 200:
            assert process.poll() is None, (config.parent / "log").read_text()
            time.sleep(0.1)
        yield process.pid, port
        assert process.poll() is None, (config.parent / "log").read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def told_by(port: int, path: str) -> httpx2.Response | None:
    with suppress(httpx2.TransportError):
        return httpx2.get(f"http://127.0.0.1:{port}{path}")
    return None


def readiness(port: int) -> int | None:
    answer = told_by(port, "/readyz")
    return answer.status_code if answer is not None else None


def test_an_adapter_serves_metrics_and_probes(tmp_path: Path) -> None:
    port, metrics = free_port(), free_port()
    options = tmp_path / "options.toml"
    options.write_text("people = 5000\n")
    line = [
        sys.executable,
        "-m",
        "api.operations.cli",
        "adapter",
        "simulated",
        "--options",
        str(options),
    ]
    environment = os.environ | {"PLATFORM_AUDITOR_METRICS_PORT": str(metrics)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [*line, "--port", str(port)], stdout=log, stderr=log, env=environment
        )
    try:
        until(lambda: readiness(metrics) == 200, "the adapter to be ready")
        until(lambda: told_by(port, FACTS) is not None, "the adapter to answer")
        httpx2.post(f"http://127.0.0.1:{port}{CALLS}match", content=b"nonsense")
        found = told_by(metrics, "/metrics")
        assert found is not None
        assert 'adapter_calls_total{call="match"} 1.0' in found.text
        assert 'adapter_call_failures_total{call="match"} 1.0' in found.text
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_every_process_serves_metrics_and_notices_a_full_disk(command: str, config: Path) -> None:
    options = ["--port", str(free_port())] if command == "serve" else []
    with started(command, config, *options) as (pid, port):
        metrics = told_by(port, "/metrics")
        assert metrics is not None
        assert "queue_length 0.0" in metrics.text
        assert 'database_connections{state="in_use"}' in metrics.text
        # From now on no file of the process can grow.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        until(lambda: readiness(port) == 503, "the process to notice")
        alive = told_by(port, "/healthz")
        assert alive is not None
        assert alive.is_success
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        until(lambda: readiness(port) == 200, "the process to recover")
