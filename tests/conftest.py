"""Databases for tests: a real SQLite file, and a real PostgreSQL brought by a wheel."""

import gc
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from api.platforms.interfaces import Platform
from tests.databases import start_postgresql
from tests.world import Deployment, deployed, small_platform, sqlite_url


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the PostgreSQL half of `long_on_postgresql` as long, before `-m` selects."""
    for item in items:
        given = getattr(item, "callspec", None)
        on = given.params.get("new_database") if given else None
        if on == "postgresql" and item.get_closest_marker("long_on_postgresql"):
            item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """Keep what was collected out of every later search for garbage: it lives to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK keeps profiles and group names here, not in the tester's home."""
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL server of this test process.

    Not in pytest's own temporary folders: other runs clear those away.
    """
    with TemporaryDirectory(prefix="postgresql-") as folder:
        server = start_postgresql(Path(folder))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Makes empty databases, on each of the two systems in turn."""
    if request.param == "sqlite":
        return lambda: sqlite_url(tmp_path_factory.mktemp("sqlite"))
    server = request.getfixturevalue("postgresql")
    return lambda: new_postgresql(server)


def new_postgresql(server: str) -> str:
    name = f"t{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    rest = server.partition("://")[2]
    address, _, query = rest.partition("?")
    host = address.rpartition("/")[0]
    return f"postgresql+psycopg://{host}/{name}" + (f"?{query}" if query else "")


@pytest.fixture(scope="session")
def platform() -> Platform:
    """A small, fair simulated platform."""
    return small_platform()


@pytest.fixture(scope="session")
def biased_platform() -> Platform:
    return small_platform(bias=True)


@pytest.fixture(scope="module")
def deployment(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """A running service on either database, shared by the tests of a module."""
    with deployed(new_database(), platform) as running:
        yield running


@pytest.fixture(scope="module")
def sqlite_deployment(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform
) -> Iterator[Deployment]:
    """A running service on SQLite, where the database makes no difference."""
    with deployed(sqlite_url(tmp_path_factory.mktemp("sqlite")), platform) as running:
        yield running
