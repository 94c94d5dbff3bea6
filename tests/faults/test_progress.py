"""Waits follow progress: the clock begins anew at every move."""

import time
from pathlib import Path

import pytest

from tests.faults.progress import IDLE_POLLS, LIMIT_SECONDS, Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds on a clock that only the test turns."""
    seconds = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: seconds[0])
    return seconds


def test_a_wait_lasts_as_long_as_something_moves(tmp_path: Path, clock: list[float]) -> None:
    progress = Progress(tmp_path, stuck_after=5)
    for step in range(10):
        assert not progress.stuck(step)
        clock[0] += 0.9 * LIMIT_SECONDS
    assert not progress.stuck("the last move")
    clock[0] += 1.1 * LIMIT_SECONDS
    assert progress.stuck("the last move")


@pytest.mark.parametrize("name", ["shown", "scored"])
def test_what_the_service_writes_is_a_move(name: str, tmp_path: Path, clock: list[float]) -> None:
    progress = Progress(tmp_path, stuck_after=5)
    assert not progress.stuck("running")
    clock[0] += 0.9 * LIMIT_SECONDS
    (tmp_path / name).write_bytes(b"one line")
    assert not progress.stuck("running")
    clock[0] += 0.9 * LIMIT_SECONDS
    assert not progress.stuck("running")


def test_idle_polls_since_the_last_move_are_counted(tmp_path: Path, clock: list[float]) -> None:
    progress = Progress(tmp_path, stuck_after=5)
    (tmp_path / IDLE_POLLS).write_bytes(b"." * 4)
    assert not progress.stuck("charged")
    (tmp_path / IDLE_POLLS).write_bytes(b"." * 8)
    assert not progress.stuck("charged")
    (tmp_path / IDLE_POLLS).write_bytes(b"." * 12)
    assert not progress.stuck("running")
    (tmp_path / IDLE_POLLS).write_bytes(b"." * 17)
    assert progress.stuck("running")
    assert clock == [0.0]
