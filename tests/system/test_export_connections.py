"""Exports hold no connection while a piece of them is sent, however slowly it is read."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import QueuePool

from api.db import Store
from api.ledger import export as ledger_export
from api.oversight import exports
from api.oversight.time_range import TimeRange
from openapi.resources import ExportName
from tests.durability.processes import until
from tests.system.scene import Scene


@pytest.fixture
def store(scene: Scene) -> Iterator[Store]:
    """Connections of nobody else, to the same database."""
    with closing(Store(scene.deployment.service.store.url)) as made:
        yield made


def read_all(pieces: Iterator[bytes], store: Store) -> bytes:
    """All of an export; no connection is in use after any piece."""
    pool, read = store.engine.pool, b""
    assert isinstance(pool, QueuePool)
    for piece in pieces:
        assert pool.checkedout() == 0
        read += piece
    return read


def test_an_export_of_the_ledger(
    scene: Scene, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_export, "AT_ONCE", 2)
    until(lambda: scene.regulator.get("/v1/ledger/checkpoint").is_success, "a signed head")
    for auditor in (None, scene.auditor_id):
        pieces = ledger_export.export(store, "origin", auditor, "jsonl")
        assert read_all(pieces, store).count(b"\n") > 4


@pytest.mark.parametrize("name", exports.TABLES)
@pytest.mark.parametrize("written_as", ["csv", "parquet"])
def test_a_table(scene: Scene, store: Store, name: ExportName, written_as: str) -> None:
    settings = scene.deployment.service.settings
    asked = exports.ExportQuery(settings, TimeRange.of(None, None), None)
    pieces = exports.export(store, name, "csv" if written_as == "csv" else "parquet", asked)
    assert read_all(pieces, store)
