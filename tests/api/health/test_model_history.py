"""Which models releases name: counted by the database, whichever it is."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from api import ledger
from api.db import Store
from api.health.model_history import Seen, list_models
from api.kernel.clock import next_second, now
from api.platforms.interfaces import Platform
from tests.databases import prepare

OLD, NEW = "sha256:" + "0" * 64, "sha256:" + "1" * 64


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    store = Store(new_database())
    prepare(store)
    yield store
    store.close()


def test_every_model_is_counted_with_its_first_and_last_release(
    store: Store, platform: Platform
) -> None:
    began = next_second(now())
    # Where no model was behind it, a release names none.
    released = (OLD, None, OLD, NEW, OLD, NEW, None)
    with store.write() as session:
        for seconds, digest in enumerate(released):
            facts = {"audit_id": f"audit_{seconds}", "model_digest": digest}
            ledger.append(session, "release", facts, at=began + timedelta(seconds=seconds))
        ledger.append(session, "failure", {"model_digest": NEW}, at=began + timedelta(hours=1))
    with store.read() as session:
        found = list_models(session, platform).released
    after = [began + timedelta(seconds=seconds) for seconds in range(len(released))]
    assert found == [Seen(NEW, 2, after[3], after[5]), Seen(OLD, 3, after[0], after[4])]


def test_without_a_release_there_is_none(store: Store, platform: Platform) -> None:
    with store.read() as session:
        assert list_models(session, platform).released == []
