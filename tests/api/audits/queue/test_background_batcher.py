"""Background batches: one batch takes all waiting work, and the queue is bounded."""

import threading
from collections.abc import Sequence

import pytest

from api.audits.queue.background_batcher import BackgroundBatcher

PATIENCE = 20


class Held:
    """Writes down what it is given, once it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, some: Sequence[int]) -> None:
        self.begun.release()
        assert self.go.acquire(timeout=PATIENCE)
        if 13 in some:
            raise ValueError(some)
        self.batches.append(list(some))

    def let(self, batches: int) -> None:
        for _ in range(batches):
            self.go.release()


def test_what_comes_meanwhile_is_done_at_once() -> None:
    held = Held()
    with BackgroundBatcher(held, 8, "test") as batcher:
        batcher.submit(1)
        assert held.begun.acquire(timeout=PATIENCE)
        for number in (2, 3, 4):
            batcher.submit(number)
        held.let(2)
    assert held.batches == [[1], [2, 3, 4]]


def test_the_end_waits_for_everything() -> None:
    held = Held()
    with BackgroundBatcher(held, 8, "test") as batcher:
        batcher.submit(1)
        threading.Timer(0.2, held.let, [1]).start()
    assert held.batches == [[1]]


def test_who_waits_finds_everything_done() -> None:
    held = Held()
    with BackgroundBatcher(held, 8, "test") as batcher:
        assert not batcher.drain()
        batcher.submit(1)
        threading.Timer(0.2, held.let, [1]).start()
        assert batcher.drain()
        assert held.batches == [[1]]
        assert not batcher.drain()


def test_the_giver_waits_when_too_much_does() -> None:
    held, third = Held(), threading.Event()
    with BackgroundBatcher(held, 1, "test") as batcher:
        batcher.submit(1)
        assert held.begun.acquire(timeout=PATIENCE)
        batcher.submit(2)

        def give() -> None:
            batcher.submit(3)
            third.set()

        giver = threading.Thread(target=give)
        giver.start()
        assert not third.wait(0.1)
        held.let(3)
        giver.join(PATIENCE)
        assert third.is_set()
    assert held.batches == [[1], [2], [3]]


def test_a_failure_is_reported_and_stores_nothing(caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    held.let(2)
    with BackgroundBatcher(held, 8, "test") as batcher:
        batcher.submit(13)
        assert batcher.drain()
        batcher.submit(1)
    assert held.batches == [[1]]
    assert "test.error" in caplog.text
