"""Readiness: the result and the age of the last background write."""

from api.telemetry.readiness import WriteRecord


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def record_at(clock: Clock) -> WriteRecord:
    return WriteRecord(5.0, clock)


def test_a_process_that_has_not_written_is_not_ready() -> None:
    found = record_at(Clock()).readiness()
    assert not found.is_ready
    assert (found.last_write, found.age_seconds) == ("none", None)
    assert "first" in found.reason


def test_a_write_makes_it_ready_until_it_is_older_than_three_intervals() -> None:
    clock = Clock()
    writes = record_at(clock)
    writes.record(succeeded=True)
    clock.seconds += 15.0
    found = writes.readiness()
    assert found.is_ready
    assert found.model_dump() == {
        "status": "ok",
        "last_write": "ok",
        "age_seconds": 15.0,
        "limit_seconds": 15.0,
    }
    clock.seconds += 0.2
    late = writes.readiness()
    assert not late.is_ready
    assert late.last_write == "ok"
    assert "15.2 s old" in late.reason


def test_a_failed_write_makes_it_unready_at_once_and_the_next_one_ready() -> None:
    clock = Clock()
    writes = record_at(clock)
    writes.record(succeeded=True)
    writes.record(succeeded=False)
    clock.seconds += 2.0
    found = writes.readiness()
    assert not found.is_ready
    assert (found.last_write, found.age_seconds) == ("failed", 2.0)
    assert "failed 2.0 s ago" in found.reason
    writes.record(succeeded=True)
    assert writes.readiness().is_ready
