from typing import NamedTuple

import numpy as np
import pytest

from privacy.errors import BoundsError
from privacy.metric_values import NOBODY, AdjacentRanks, Caps, SampledPairs, cap_lists
from privacy.metric_values.list_caps import Numbers, mix_bits, select_first
from tests.refusals import refuses


class Log(NamedTuple):
    event: Numbers
    viewer: Numbers
    candidates: Numbers
    relevance: np.ndarray

    def without(self, person: int) -> "Log":
        """An event goes with its viewer; a candidate leaves a blank."""
        stay = self.viewer != person
        left = np.where(self.candidates == person, NOBODY, self.candidates)
        return Log(self.event[stay], self.viewer[stay], left[stay], self.relevance[stay])


def drawn(rng: np.random.Generator, people: int, events: int, length: int) -> Log:
    return Log(
        event=rng.permutation(10 * events)[:events],
        viewer=rng.integers(0, people, events),
        candidates=rng.integers(-1, people, (events, length)),
        relevance=rng.integers(0, 3, (events, length)).astype(float),
    )


def test_nobody_counts_more_often_than_the_caps_allow() -> None:
    log = drawn(np.random.default_rng(1), 6, 60, 4)
    for viewer, candidate in ((1, 1), (2, 3), (100, 100)):
        kept = cap_lists(*log[:3], Caps(viewer, candidate, 4))
        assert np.bincount(log.viewer[kept.lists]).max() <= viewer
        places = kept.candidates[kept.candidates != NOBODY]
        assert np.bincount(places).max() <= candidate
        assert all(len(set(row[row >= 0])) == (row >= 0).sum() for row in kept.candidates)
    assert len(kept.lists) == 60


def test_lists_of_nobody_are_not_kept() -> None:
    candidates = np.array([[1], [2], [3]])
    viewer = np.array([NOBODY, 4, NOBODY])
    kept = cap_lists(np.arange(3), viewer, candidates, Caps(2, 1, 1))
    assert kept.lists.tolist() == [1]
    assert kept.candidates.tolist() == [[2]]


def test_first_is_the_least_of_each_owner() -> None:
    owner = np.array([3, 1, 3, 3, 1])
    order = np.array([5, 9, 2, 7, 1], np.uint64)
    assert select_first(owner, order, 2).tolist() == [True, True, True, False, True]
    assert select_first(owner, order, 1).tolist() == [False, False, True, False, True]
    assert select_first(owner[:0], order[:0], 1).tolist() == []


def test_the_mix_is_a_bijection_that_a_seed_changes() -> None:
    numbers = np.arange(20_000)
    assert len(set(mix_bits(numbers, 1).tolist())) == len(numbers)
    assert mix_bits(numbers, 1).tolist() != mix_bits(numbers, 2).tolist()


@pytest.mark.parametrize(("viewer", "candidate", "length"), [(1, 1, 1), (1, 2, 3), (2, 1, 4)])
def test_one_person_changes_no_more_lists_than_proved(
    viewer: int, candidate: int, length: int
) -> None:
    caps, worst = Caps(viewer, candidate, length), 0
    for seed in range(60):
        log = drawn(np.random.default_rng(seed), 7, 25, length)
        for person in range(7):
            worst = max(worst, _changed_lists(log, person, caps))
    assert worst <= caps.lists
    # The bound is not idle: random logs come near it.
    assert worst > caps.lists / 2


def _changed_lists(log: Log, person: int, caps: Caps) -> int:
    def kept(one: Log) -> dict[int, tuple[int, ...]]:
        found = cap_lists(*one[:3], caps)
        rows = zip(one.event[found.lists].tolist(), found.candidates.tolist(), strict=True)
        return {event: tuple(places) for event, places in rows}

    one, other = kept(log), kept(log.without(person))
    return sum(one.get(event) != other.get(event) for event in one.keys() | other.keys())


def test_the_rows_of_neighbours_change_only_in_events_that_change() -> None:
    caps, metric = Caps(1, 1, 4), AdjacentRanks(ranks=4)
    worst = 0
    for seed in range(40):
        log = drawn(np.random.default_rng(seed), 7, 25, 4)
        for person in range(7):
            one, other = (_adjacent(part, caps, metric) for part in (log, log.without(person)))
            touched = {event for event, *_ in one ^ other}
            worst = max(worst, len(touched))
    assert 0 < worst <= caps.lists


def _adjacent(log: Log, caps: Caps, metric: AdjacentRanks) -> set[tuple[int, ...]]:
    kept = cap_lists(*log[:3], caps)
    found = metric.rows(log.relevance[kept.lists], kept.candidates)
    event = log.event[kept.lists][found.unit]
    return {
        (int(number), int(cell), *map(int, members), *map(int, values))
        for number, cell, members, values in zip(
            event, found.cell, found.members, found.values, strict=True
        )
    }


def test_one_person_changes_no_more_sampled_pairs_than_proved() -> None:
    metric = SampledPairs(buckets=5, rounds=3, events=2)
    worst = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        event, person = rng.permutation(200)[:30], rng.integers(0, 8, 30)
        score, actual = rng.integers(0, 4, 30), rng.random(30) < 0.5
        whole = _pairs(metric, event, person, score, actual)
        for leaving in range(8):
            stay = person != leaving
            rest = _pairs(metric, event[stay], person[stay], score[stay], actual[stay])
            worst = max(worst, len(whole - rest), len(rest - whole))
    assert worst == metric.pairs_per_person


def _pairs(
    metric: SampledPairs, event: Numbers, person: Numbers, score: np.ndarray, actual: np.ndarray
) -> set[tuple[int, int, int, int]]:
    """As (round and bucket are told apart by the pair's place among equals) counted tuples."""
    found = metric.rows(event, person, score, actual)
    seen: dict[tuple[int, int, int], int] = {}
    pairs = set()
    for (above, below), (won, _) in zip(found.members.tolist(), found.values, strict=True):
        key = (above, below, int(won))
        seen[key] = seen.get(key, 0) + 1
        pairs.add((*key, seen[key]))
    return pairs


def test_bad_caps_and_lists_are_refused() -> None:
    for wrong in ((0, 1, 1), (None, None, 1), (None, 0, 1)):
        with refuses(BoundsError, "caps"):
            Caps(*wrong)
    log = drawn(np.random.default_rng(1), 6, 10, 4)
    with refuses(BoundsError, "places", 3):
        cap_lists(*log[:3], Caps(1, 1, 3))
