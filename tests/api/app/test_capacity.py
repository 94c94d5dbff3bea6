"""Sizes of one process: the argument of `api.app.capacity` in numbers."""

from itertools import product
from pathlib import Path

import anyio.to_thread
import httpx2
import pytest

from api.app.app import create_app
from api.app.capacity import Capacity
from api.app.container import build_container
from api.platforms.interfaces import Platform
from tests.databases import prepare
from tests.world import free_port, listening, make_settings, sqlite_url


@pytest.mark.parametrize(("requests", "uploads"), [*product((4, 8, 128), (1, 4, 32))])
def test_those_who_may_wait_for_a_lock_leave_threads_for_reads(requests: int, uploads: int) -> None:
    capacity = Capacity(requests, uploads)
    assert capacity.writers == sum(capacity.writes.values()) + uploads + capacity.exchanges
    assert capacity.readers == sum(capacity.reads.values())
    assert capacity.threads >= capacity.writers + capacity.readers + 1
    assert min(*capacity.writes.values(), *capacity.reads.values()) >= 1
    assert capacity.connections > capacity.threads


def test_sizes_that_leave_no_thread_for_reads_are_refused() -> None:
    with pytest.raises(ValueError, match="threads"):
        Capacity(requests=0, uploads=4)


def test_a_running_service_has_as_many_threads_as_it_argues_from(
    platform: Platform, tmp_path: Path
) -> None:
    port = free_port()
    settings = make_settings(sqlite_url(tmp_path), f"http://127.0.0.1:{port}", console=False)
    service = build_container(settings, platform)
    prepare(service.store)
    app = create_app(service)

    @app.get("/threads")
    async def count_threads() -> float:
        return anyio.to_thread.current_default_thread_limiter().total_tokens

    with listening(app, port):
        found = httpx2.get(f"http://127.0.0.1:{port}/threads").json()
    assert found == Capacity.from_settings(settings).threads
