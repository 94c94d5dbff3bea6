"""The databases under the service: a SQLite file, and a PostgreSQL server of this run."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import new_postgresql
from tests.databases import start_postgresql
from tests.world import sqlite_url

NAMES = ("sqlite", "postgresql")


@contextmanager
def new_database(name: str, folder: Path) -> Iterator[str]:
    """Make an empty database of this system; a server that was started for it ends with it."""
    if name == "sqlite":
        yield sqlite_url(folder)
        return
    server = start_postgresql(folder / "postgresql")
    try:
        yield new_postgresql(server.get_uri())
    finally:
        server.cleanup()
