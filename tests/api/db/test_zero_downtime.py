"""Migrations that old processes live through: they add, and take nothing away.

While one process after the other is replaced, old ones go on reading and writing by the schema they
know: every column of theirs is there, and what they do not write has a default.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import inspect, text
from sqlmodel import select

from api.app.compose import make_simulated_platform
from api.db import ReleaseRow, Store
from api.db.schema import NewerSchemaError, list_revisions, migrate
from bench.hosted import hosted_on
from tests.conftest import new_postgresql
from tests.durability.processes import until
from tests.world import make_settings, sqlite_url

# Before it, deployments were stopped to be migrated.
FIRST = "0007"
Schema = dict[str, dict[str, dict[str, Any]]]


def schema_of(store: Store) -> Schema:
    found = inspect(store.engine)
    return {
        table: {
            column["name"]: {
                "type": str(column["type"]),
                "optional": column["nullable"] or column["default"] is not None,
            }
            for column in found.get_columns(table)
        }
        for table in found.get_table_names()
    }


def breaks(before: Schema, after: Schema) -> list[str]:
    """Return the changes that break a process with the previous schema."""
    found = [f"{table} is gone" for table in before.keys() - after.keys()]
    for table in before.keys() & after.keys():
        old, new = before[table], after[table]
        found += [f"{table}.{name} is gone" for name in old.keys() - new.keys()]
        found += [
            f"{table}.{name} is new and must be written"
            for name in new.keys() - old.keys()
            if not new[name]["optional"]
        ]
        found += [
            f"{table}.{name} is of another type"
            for name in old.keys() & new.keys()
            if old[name]["type"] != new[name]["type"]
        ]
    return found


def test_old_processes_live_through_every_migration(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    later = [revision for revision in list_revisions() if revision > FIRST]
    assert later
    migrate(store, next(each for each in list_revisions() if each.startswith(FIRST)))
    before = schema_of(store)
    for revision in later:
        migrate(store, revision)
        after = schema_of(store)
        assert not breaks(before, after), revision
        before = after
    store.close()


@pytest.mark.parametrize(
    ("after", "complaint"),
    [
        ({}, "audits is gone"),
        ({"audits": {}}, "audits.id is gone"),
        ({"audits": {"id": ("TEXT", True), "by": ("TEXT", False)}}, "audits.by is new and must"),
        ({"audits": {"id": ("INTEGER", True)}}, "audits.id is of another type"),
    ],
)
def test_a_migration_that_they_would_not_is_found(after: Any, complaint: str) -> None:
    def schema(tables: Any) -> Schema:
        return {
            table: {name: {"type": each[0], "optional": each[1]} for name, each in columns.items()}
            for table, columns in tables.items()
        }

    [found] = breaks(schema({"audits": {"id": ("TEXT", True)}}), schema(after))
    assert found.startswith(complaint)


def migrated_by_a_newer_version(store: Store) -> None:
    """As the rules for migrations allow: a table more, and columns that nobody has to write."""
    with store.write() as session:
        for change in (
            "CREATE TABLE of_tomorrow (id INTEGER PRIMARY KEY)",
            "ALTER TABLE audits ADD COLUMN mood VARCHAR",
            "ALTER TABLE ledger ADD COLUMN weight INTEGER NOT NULL DEFAULT 1",
            "UPDATE alembic_version SET version_num = '9999'",
        ):
            session.execute(text(change))


def test_a_process_that_runs_goes_on_when_a_newer_one_migrates(
    new_database: Callable[[], str],
) -> None:
    with hosted_on(new_database(), make_simulated_platform(people=1_000)) as old:
        request, _ = old.sealed(np.arange(500))
        for _ in range(8):  # by then PostgreSQL has the statements prepared
            old.audit(request)
        newer = Store(old.service.store.url)
        migrated_by_a_newer_version(newer)
        newer.close()
        old.audit(request)
        old.audit(old.sealed(np.arange(700))[0])
        with old.service.store.read() as session:
            assert len(session.exec(select(ReleaseRow.audit_id)).all()) == 10


def test_one_that_starts_then_says_that_it_is_too_old(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    migrate(store)
    migrated_by_a_newer_version(store)
    before = schema_of(store)
    with pytest.raises(NewerSchemaError, match="9999"):
        migrate(store)
    assert schema_of(store) == before
    store.close()


def test_the_operator_gets_a_sentence_about_it(tmp_path: Path) -> None:
    settings = make_settings(sqlite_url(tmp_path), "http://127.0.0.1")
    store = Store(settings.database_url)
    migrate(store)
    migrated_by_a_newer_version(store)
    store.close()
    given = {
        "database_url": settings.database_url,
        "issuer": settings.issuer,
        "key_encryption_key": settings.key_encryption_key.get_secret_value(),
    }
    named = {f"PLATFORM_AUDITOR_{name.upper()}": value for name, value in given.items()}
    started = subprocess.run(
        [sys.executable, "-m", "api.operations.cli", "worker"],
        env=os.environ | named,
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == 1
    assert "9999" in started.stderr.splitlines()[-1]
    assert "Traceback" not in started.stderr


def test_who_uploads_and_the_migration_of_uploads_do_not_wait_for_each_other(
    postgresql: str,
) -> None:
    """Half-way: the audience and its groups are looked at, the part is not written yet."""
    url = new_postgresql(postgresql)
    store = Store(url)
    migrate(store, "0013")
    with ThreadPoolExecutor(1) as beside, store.engine.connect() as uploading:
        for table in ("audiences", "audience_groups"):
            uploading.execute(text(f"SELECT count(*) FROM {table}"))
        migrating = beside.submit(migrate, store)
        until(lambda: waiting(store), "the migration to wait")
        uploading.execute(text("DELETE FROM audience_parts"))
        uploading.execute(text("UPDATE audience_groups SET members = 0"))
        assert not migrating.done()
        uploading.commit()
        migrating.result(timeout=30)
    store.close()


def waiting(store: Store) -> bool:
    with store.autocommit_connection() as connection:
        return bool(connection.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted")).first())
