"""The database schema and its migrations, by Alembic."""

import os
from contextlib import suppress
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, select
from sqlmodel import SQLModel

from api.db.engine import Store

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any constant works, if all our processes use the same one.
_POSTGRESQL_LOCK = 0x4D696772


class NewerSchemaError(Exception):
    """The database belongs to a newer version than this process."""


def migrate(store: Store, revision: str = "head") -> None:
    """Migrate the database to a revision; a database at that revision is not changed.

    Processes that start together take turns: the first one migrates, and the others find it done.
    """
    _create_private_file(store)
    connected = store.engine.connect().execution_options(writes=True)
    # Begun before Alembic: otherwise it commits after every revision, and two processes could
    # interleave.
    with connected as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_POSTGRESQL_LOCK)))
        _refuse_newer(connection)
        command.upgrade(_config(connection), revision)


def _create_private_file(store: Store) -> None:
    """Create a new SQLite file that only its owner can read; its -wal and -shm files follow."""
    name = store.engine.url.database
    if store.engine.dialect.name != "sqlite" or not name or name == ":memory:":
        return
    with suppress(FileExistsError):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _refuse_newer(connection: Connection) -> None:
    """Raise if the revision is unknown, because a newer migration may have removed data."""
    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found not in list_revisions():
        raise NewerSchemaError(
            f"The schema of the database is at {found}, which this version does not know: a newer"
            " one has migrated it. Nothing was changed. Start that version."
        )


def list_revisions() -> list[str]:
    """Return all revisions, the first one first."""
    script = ScriptDirectory.from_config(_config(None))
    return [revision.revision for revision in script.walk_revisions()][::-1]


def list_differences(store: Store) -> list[object]:
    """Return the differences between the tables of the code and those of the database."""
    with store.engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), SQLModel.metadata))


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    return config
