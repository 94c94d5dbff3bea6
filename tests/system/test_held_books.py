"""The lock of the ledger, held by somebody who does not let go: requests end in time."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from sqlalchemy import text

from api.app import container
from api.db import SERVING_LIMITS, Store
from api.platforms.interfaces import Platform
from platform_sim import World
from tests.conftest import new_postgresql
from tests.durability.processes import until
from tests.system.raw import raw, refused
from tests.system.scene import set_scene
from tests.world import Deployment, deployed

LOCK_SECONDS = 2.5


@pytest.fixture
def served(
    postgresql: str, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    limits = dict(SERVING_LIMITS) | {"lock_timeout": round(1_000 * LOCK_SECONDS)}
    monkeypatch.setattr(container, "SERVING_LIMITS", limits)
    with deployed(new_postgresql(postgresql), platform, heartbeat_seconds=0.5) as running:
        yield running


def test_charges_are_refused_in_time_and_others_are_served(
    served: Deployment, world: World
) -> None:
    scene = set_scene(served, world)
    address = served.service.store.url.replace("+psycopg", "")
    with closing(psycopg.connect(address)) as other, ThreadPoolExecutor(6) as pool:
        other.execute("SELECT * FROM ledger_head FOR UPDATE")
        began = time.monotonic()
        charges = [pool.submit(scene.me.submit, scene.request()) for _ in range(6)]
        for _ in range(5):
            assert scene.other.get("/v1/me").is_success
            assert scene.other.get("/v1/budget").is_success
        assert time.monotonic() - began < LOCK_SECONDS
        for charge in charges:
            refused(charge.result(), "unavailable")
            assert charge.result().headers["retry-after"]
        assert time.monotonic() - began < 10 * LOCK_SECONDS
        until(lambda: scene.other.get("/readyz").status_code == 503, "readiness to notice")
        other.rollback()
    until(lambda: scene.other.get("/readyz").is_success, "readiness to return")
    assert raw(served, served.auditor()).get("/v1/me").is_success
    assert scene.me.submit(scene.request()).is_success


def test_sessions_of_a_service_have_limits_and_those_of_commands_none(postgresql: str) -> None:
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
    database = new_postgresql(postgresql)
    found = []
    for limits in (SERVING_LIMITS, {}):
        with (
            closing(Store(database, limits=limits)) as store,
            store.autocommit_connection() as connection,
        ):
            found.append([connection.execute(text(f"SHOW {name}")).scalar() for name in names])
    assert found == [["20s", "5min", "5min"], ["0", "0", "0"]]
