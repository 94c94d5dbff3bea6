"""The backlog: who has its share of the audits that wait, and for how long a count is used."""

from dataclasses import dataclass

from api.audits.queue.backlog import MOST_WAITING, Backlog


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def test_nobody_has_a_share_before_the_first_count() -> None:
    assert not Backlog().has_share("a")


def test_one_auditor_may_have_the_whole_backlog() -> None:
    backlog = Backlog(Clock())
    backlog.record({"a": MOST_WAITING - 1})
    assert not backlog.has_share("a")
    backlog.record({"a": MOST_WAITING})
    assert backlog.has_share("a")


def test_auditors_share_the_backlog_equally_and_each_may_have_one() -> None:
    backlog = Backlog(Clock())
    backlog.record({"a": MOST_WAITING // 2 - 1, "b": 200, "c": 0})
    assert not backlog.has_share("a")
    assert backlog.has_share("b")
    backlog.record({str(each): 1 for each in range(10 * MOST_WAITING)} | {"c": 0})
    assert backlog.has_share("7")
    assert not backlog.has_share("c")


def test_the_audits_of_one_auditor_keep_no_other_from_quotes() -> None:
    backlog = Backlog(Clock())
    backlog.record({"a": 10 * MOST_WAITING})
    assert not backlog.has_share("b")


def test_a_count_is_used_for_half_a_second() -> None:
    clock = Clock()
    backlog = Backlog(clock)
    backlog.record({"a": MOST_WAITING})
    clock.now += 0.49
    assert backlog.has_share("a")
    clock.now += 0.02
    assert not backlog.has_share("a")
