"""Migrations that old processes live through: they add, and take nothing away.

While one process after the other is replaced, old ones go on reading and writing by the schema they
know: every column of theirs is there, and what they do not write has a default.
"""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect

from api.store import Store
from api.store.schema import migrate, revisions
from tests.world import sqlite_url

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
    """What a process that knows the schema of before cannot live with."""
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
    later = [revision for revision in revisions() if revision > FIRST]
    assert later
    migrate(store, next(each for each in revisions() if each.startswith(FIRST)))
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
