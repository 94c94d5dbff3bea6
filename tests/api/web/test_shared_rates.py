"""Shared buckets on PostgreSQL: one rate for all processes, and no request waits for it."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlmodel import select

from api.db import RateBucketRow, Store
from api.kernel.errors import RateLimitedError
from api.web.shared_rates import SharedRates
from api.web.token_buckets import LocalBuckets, Rate, TokenBuckets
from tests.conftest import new_postgresql
from tests.databases import prepare
from tests.world import make_settings, sqlite_url

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0
# One token an hour: nothing refills while a test runs.
SLOW = Rate(per_minute=1 / 60, burst=40)
GRANT = SLOW.burst // 4


@pytest.fixture
def store(postgresql: str) -> Iterator[Store]:
    made = Store(new_postgresql(postgresql))
    prepare(made)
    yield made
    made.close()


def rates_of(store: Store) -> SharedRates:
    settings = make_settings(store.url, "http://127.0.0.1")
    key = settings.key_encryption_key.__class__("a" * 43)
    return SharedRates(store, settings.model_copy(update={"key_encryption_key": key}))


@contextmanager
def drawing(rates: SharedRates) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=rates.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def admits(buckets: TokenBuckets, who: str = "ada") -> bool:
    try:
        buckets.take(who)
    except RateLimitedError:
        return False
    return True


def wait_told(buckets: TokenBuckets) -> int:
    """Take until refused; return the wait that the refusal names."""
    while True:
        try:
            buckets.take("ada")
        except RateLimitedError as error:
            return int(error.headers["Retry-After"])


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def level(store: Store) -> float | None:
    with store.read() as session:
        return session.exec(select(RateBucketRow.tokens)).first()


def settled(store: Store) -> Callable[[], bool]:
    """All but a fraction of a token is drawn."""
    return lambda: (found := level(store)) is not None and found < 1


def admitted_until(store: Store, buckets: TokenBuckets) -> int:
    """Take until nothing is left anywhere."""
    count = 0

    def empty() -> bool:
        nonlocal count
        was_settled = settled(store)()
        before = count
        while admits(buckets):
            count += 1
        return was_settled and count == before

    until(empty)
    return count


def test_a_process_draws_the_whole_burst(store: Store) -> None:
    rates = rates_of(store)
    buckets = rates.buckets("requests", SLOW)
    with drawing(rates):
        assert SLOW.burst <= admitted_until(store, buckets) <= SLOW.burst + GRANT


def test_without_the_database_a_process_admits_its_grant(store: Store) -> None:
    buckets = rates_of(store).buckets("requests", SLOW)
    assert sum(admits(buckets) for _ in range(100)) == GRANT


PROCESS = """
import sys, time
from api.db import Store
from tests.api.web.test_shared_rates import SLOW, admitted_until, drawing, rates_of

store = Store(sys.argv[1])
rates = rates_of(store)
buckets = rates.buckets("requests", SLOW)
print("ready", flush=True)
sys.stdin.readline()
with drawing(rates):
    print(admitted_until(store, buckets), flush=True)
store.close()
"""


def test_two_processes_share_one_rate(store: Store) -> None:
    command = [sys.executable, "-c", PROCESS, store.url]
    started = [
        subprocess.Popen(
            command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        answers = [process.communicate("go\n", timeout=PATIENCE) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    admitted = sum(int(answer[0]) for answer in answers)
    assert SLOW.burst <= admitted <= SLOW.burst + 2 * GRANT
    # Loans were deducted: a third process lends once more, and draws nothing.
    assert (level(store) or 0) <= SLOW.burst - admitted + 1
    rates = rates_of(store)
    buckets = rates.buckets("requests", SLOW)
    with drawing(rates):
        assert admitted_until(store, buckets) == GRANT


def test_waiting_for_the_retry_after_suffices(store: Store) -> None:
    rates = rates_of(store)
    buckets = rates.buckets("requests", Rate(per_minute=60, burst=4))
    with drawing(rates):
        time.sleep(wait_told(buckets))
        # The draw may be late on a busy machine, but it needs no further request.
        until(lambda: buckets._local["ada"].tokens >= 1)  # type: ignore[attr-defined]
        assert admits(buckets)


def test_the_database_keeps_no_address(store: Store) -> None:
    rates = rates_of(store)
    buckets = rates.buckets("applications", SLOW)
    with drawing(rates):
        buckets.take("192.0.2.7")
        until(lambda: level(store) is not None)
    with store.read() as session:
        names = session.exec(select(RateBucketRow.name)).all()
    assert len(names) == 1
    assert "192.0.2.7" not in names[0]


def test_full_buckets_are_dropped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.web.shared_rates._CLEANING_SECONDS", 0.0)
    rates = rates_of(store)
    buckets = rates.buckets("requests", Rate(per_minute=600, burst=4))
    with drawing(rates):
        buckets.take("ada")
        until(lambda: not buckets.is_waiting)  # type: ignore[attr-defined]
        until(lambda: level(store) is None)


def test_sqlite_keeps_local_buckets(tmp_path: Path) -> None:
    store = Store(sqlite_url(tmp_path))
    prepare(store)
    rates = rates_of(store)
    assert isinstance(rates.buckets("requests", SLOW), LocalBuckets)
    rates.run(threading.Event())  # ends at once
    store.close()
