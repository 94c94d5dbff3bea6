"""The checker must be able to fail: it finds each of the five mistakes, and nothing without one."""

import re
from pathlib import Path

import pytest

from tests.histories.__main__ import SMALL, never_effective, play_mistake
from tests.histories.databases import on_sqlite
from tests.histories.mistakes import FAULTS, OF_CLIENTS, OF_SERVICES, was_made
from tests.histories.plan import Breaks, draw
from tests.histories.run import Outcome, run

pytestmark = pytest.mark.long

# What the checker says of each mistake, among other things.
FOUND = {
    "lease_never_expires": "is running in the end",
    "answer_before_commit": "was refused: {'code': 'not-found'}|which is lost|does not have",
    "release_drawn_again": "different bodies|release entries are",
    "refund_twice": "was acknowledged a second time|refund entries are",
    "retry_without_key": "was charged under .*-again, which nobody sent|and was charged 2 times",
}


def test_every_mistake_is_tried() -> None:
    assert FOUND.keys() == FAULTS.keys() == OF_SERVICES.keys() | OF_CLIENTS.keys()
    assert len(FOUND) == 5


@pytest.mark.parametrize("mistake", FOUND)
def test_the_checker_finds_the_mistake(mistake: str, tmp_path: Path) -> None:
    outcome = play_mistake(tmp_path, mistake)
    assert was_made(tmp_path / mistake), "the code of the mistake was never reached"
    assert any(re.search(FOUND[mistake], each) for each in outcome.violations), str(outcome)


def test_a_small_history_without_a_mistake_violates_nothing(tmp_path: Path) -> None:
    faults = (Breaks.KILL_AT_WORK, Breaks.LOSE_ANSWERS, Breaks.KILL_CLIENT)
    plan = draw("1", SMALL, postgresql=False, faults=faults)
    place = tmp_path / "right"
    outcome = run("right", place, on_sqlite(place), plan)
    assert outcome.violations == []
    assert outcome.operations > 60
    assert outcome.without_effect == ()
    assert outcome.effects.keys() == set(faults)
    assert outcome.faults == sum(outcome.effects.values()) >= len(faults)


def test_a_fault_that_broke_nothing_is_not_counted() -> None:
    lost, cut = Breaks.LOSE_ANSWERS, Breaks.CUT_ANSWERS
    first = Outcome("first", 9, {lost: 2, cut: 0}, [], 1.0, (cut,))
    other = Outcome("other", 9, {lost: 0, cut: 0}, [], 1.0, (lost, cut))
    assert (first.faults, other.faults) == (2, 0)
    assert f"without effect: {cut}" in str(first)
    assert never_effective([first, other]) == [cut]


def test_a_seed_draws_the_same_schedule_again() -> None:
    first, again, other = (draw(seed, SMALL, postgresql=True) for seed in ("1", "1", "2"))
    assert first == again
    assert first.operations != other.operations
