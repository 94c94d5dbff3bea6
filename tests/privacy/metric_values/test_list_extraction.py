"""The sensitivity of metrics of lists: neighbours of many logs, and the worst case."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pytest

from privacy.metric_values import NOBODY, Caps, Kernels, ListRows, Ndcg, RankGaps, extract_lists
from privacy.metric_values.from_request import OfLists
from privacy.metric_values.list_caps import Numbers, mix_bits

PEOPLE = 7
STRANGER = 99


@dataclass(frozen=True)
class Log:
    """Rows as a platform has them; without viewers its lists are nobody's."""

    viewer: Numbers | None
    query: Numbers
    position: Numbers
    candidate: Numbers
    numbers: np.ndarray

    def take(self, which: np.ndarray) -> "Log":
        return replace(self, **{name: each[which] for name, each in self._columns.items()})

    @property
    def _columns(self) -> dict[str, np.ndarray]:
        return {name: each for name, each in vars(self).items() if each is not None}

    def without(self, person: int) -> "Log":
        """A list goes with its viewer; a candidate leaves a blank, or takes their own row along."""
        if self.viewer is None:
            return self.take(self.candidate != person)
        left = replace(self, candidate=np.where(self.candidate == person, NOBODY, self.candidate))
        return left.take(self.viewer != person)

    def with_rows(self, other: "Log") -> "Log":
        more = other._columns
        both = {n: np.concatenate([each, more[n]]) for n, each in self._columns.items()}
        return replace(self, **both)

    def values(self, metric: OfLists, seed: int = 3) -> np.ndarray:
        listed = None if metric.caps.candidate is None else self.candidate
        columns = self.viewer, self.query, self.position, listed, self.numbers
        return metric.values(ListRows.of(np.arange(PEOPLE), *columns), PEOPLE, seed)


def drawn(rng: np.random.Generator, lists: int, length: int, *, viewers: bool) -> Log:
    """Lists of few people, strangers among them, and some positions that several rows claim."""
    rows = rng.permutation(lists * length)[: lists * length - 4]
    rows = np.append(rows, rng.choice(rows, 3))
    which, position = np.divmod(rows, length)
    numbers = rng.integers(0, 2, (len(rows), 2)).astype(float)
    numbers[rng.random(len(rows)) < 0.05] = np.nan
    return Log(
        viewer=rng.choice([*range(PEOPLE), STRANGER], lists)[which] if viewers else None,
        query=rng.integers(0, 1000, lists)[which],
        position=position,
        candidate=rng.choice([*range(PEOPLE), STRANGER, NOBODY], len(rows)),
        numbers=numbers,
    )


def kernels(viewer: int | None, candidate: int) -> Kernels:
    # Points so far apart that a score is near one of them: 0 or 1.
    return Kernels((0.0, 1.0), 0.1, caps=Caps(viewer, candidate))


METRICS: list[OfLists] = [
    Ndcg(Caps(1, 1, 3)),
    Ndcg(Caps(2, 1, 2)),
    Ndcg(Caps(1, 3, 2)),
    Ndcg(Caps(2, None, 3)),
    RankGaps(ranks=2, viewer=1, candidate=1),
    RankGaps(ranks=3, viewer=2, candidate=1, side="below"),
    RankGaps(ranks=2, viewer=1, candidate=2),
    RankGaps(ranks=2, viewer=None, candidate=2, side="below"),
    kernels(1, 1),
    kernels(2, 1),
    kernels(1, 2),
    kernels(None, 2),
]


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_adding_removing_or_changing_a_person_moves_no_more_than_declared(metric: OfLists) -> None:
    layout = metric.layout
    viewers, reach = metric.caps.viewer is not None, layout.total + layout.moved
    worst = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        log, other = (
            drawn(rng, 16, getattr(metric, "ranks", 3), viewers=viewers) for _ in range(2)
        )
        whole = log.values(metric)
        assert np.abs(whole).sum(axis=1).max() <= layout.total
        assert layout.low <= whole.min() <= whole.max() <= layout.high
        for person in range(PEOPLE):
            left = log.without(person)
            worst = max(worst, int(np.abs(whole - left.values(metric)).sum()))
            # The same person with rows of their own of another log.
            mine = other.candidate if other.viewer is None else other.viewer
            changed = left.with_rows(other.take(mine == person)).values(metric)
            assert np.abs(whole - changed).sum() <= 2 * reach
    assert reach / 4 < worst <= reach


def ordered(count: int, seed: int) -> Numbers:
    """Numbers of lists in the order in which they count."""
    numbers = np.arange(count)
    return numbers[np.argsort(mix_bits(numbers, seed))]


def rows_of(
    rows: list[tuple[int, int, int, int, float, float]], person: int | None, seed: int = 3
) -> ListRows:
    """Rows (list, viewer, position, candidate, numbers), with everybody or without this person."""
    number, viewer, position, candidate, *numbers = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    which = ordered(20, seed)[number]
    made = ListRows(which, viewer, position, candidate, np.column_stack(numbers))
    if person is None:
        return made
    blank = np.where(candidate == person, NOBODY, candidate)
    return replace(made, candidate=blank).take(viewer != person)


def moved(metric: OfLists, rows: list[tuple[int, int, int, int, float, float]]) -> int:
    """Return the change of the values if person 0 leaves."""
    one, other = (metric.values(rows_of(rows, who), 20, seed=3) for who in (None, 0))
    return int(np.abs(one - other).sum())


def test_ndcg_reaches_as_far_as_declared() -> None:
    metric = Ndcg(Caps(1, 1, 2))
    rows = [
        # Person 0's own list keeps 1 and 2 out of the lists of 3 and 4, where they are alone.
        *((0, 0, 0, 1, 1.0, 0.0), (0, 0, 1, 2, 1.0, 0.0)),
        *((1, 3, 0, 1, 1.0, 0.0), (2, 4, 0, 2, 1.0, 0.0)),
        # And they are all that is relevant to 5.
        (3, 5, 0, 0, 1.0, 0.0),
    ]
    layout = metric.layout
    assert moved(metric, rows) == layout.total + layout.moved == 8_000


@pytest.mark.parametrize("side", ["above", "below"])
def test_gaps_reach_as_far_as_declared(side: Literal["above", "below"]) -> None:
    metric = RankGaps(ranks=2, viewer=1, candidate=1, side=side)
    here, there = (1, 0) if side == "above" else (0, 1)
    rows = [
        # Person 0's own list keeps 1 and 2 out of the lists of 3 and 4, where others' rows count.
        *((0, 0, 0, 1, 1.0, 0.0), (0, 0, 1, 2, 0.0, 0.0)),
        *((1, 3, here, 1, 1.0, 0.0), (1, 3, there, 6, 0.0, 0.0)),
        *((2, 4, here, 2, 1.0, 0.0), (2, 4, there, 7, 0.0, 0.0)),
        # And they are next to 8 in the list of 5.
        *((3, 5, 0, 0, 1.0, 0.0), (3, 5, 1, 8, 0.0, 0.0)),
    ]
    layout = metric.layout
    assert moved(metric, rows) == layout.total + layout.moved == 8_000


def test_kernels_reach_as_far_as_declared() -> None:
    metric = kernels(1, 1)
    # Places count alone: choose those that come first, for person 0 in either role.
    first, second, third = np.argsort(
        mix_bits(rows_of([(n, 1, 0, 1, 0.0, 0.0) for n in range(3)], None).alone.number, 3)
    )
    rows = [(first, 0, 0, 1, 0.0, 1.0), (second, 2, 0, 1, 1.0, 1.0), (third, 3, 0, 0, 0.0, 1.0)]
    layout = metric.layout
    # But for what rounding may add, and kernels of other points.
    assert 0.75 * (layout.total + layout.moved) < moved(metric, rows) <= layout.total + layout.moved


def test_strangers_and_undefined_numbers_are_blank() -> None:
    log = Log(
        viewer=np.array([0, 0, 0, STRANGER]),
        query=np.array([5, 5, 5, 6]),
        position=np.array([0, 1, 2, 0]),
        candidate=np.array([1, STRANGER, 2, 1]),
        numbers=np.array([[1.0], [1.0], [np.nan], [1.0]]),
    )
    columns = log.viewer, log.query, log.position, log.candidate, log.numbers
    rows = ListRows.of(np.arange(PEOPLE), *columns)
    assert rows.viewer.tolist() == [0, 0, 0]
    lists = extract_lists(rows, Caps(1, 1, 3), 0)
    assert lists.viewer.tolist() == [0]
    assert lists.candidates.tolist() == [[1, NOBODY, NOBODY]]


def test_a_place_that_two_claim_is_nobodys() -> None:
    rows = ListRows.of(
        np.arange(PEOPLE),
        viewer=None,
        query=np.array([1, 1, 1]),
        position=np.array([0, 0, 1]),
        candidate=np.array([1, 2, 3]),
        numbers=np.zeros((3, 1)),
    )
    assert extract_lists(rows, Caps(None, 1, 2), 0).candidates.tolist() == [[NOBODY, 3]]


def test_items_are_no_people_and_always_there() -> None:
    rows = ListRows.of(
        np.arange(PEOPLE),
        viewer=np.array([1, 1, 1, 2]),
        query=np.array([7, 7, 8, 9]),
        position=np.array([0, 1, 0, 0]),
        candidate=None,
        numbers=np.array([[0.0], [1.0], [1.0], [1.0]]),
    )
    found = Ndcg(Caps(2, None, 2)).values(rows, PEOPLE)
    worst = round(1000 / np.log2(3))
    assert found[1:3].tolist() == [[2000, 1000 + worst], [1000, 1000]]


def test_nobody_has_no_values() -> None:
    nothing = np.empty(0, np.int64)
    for metric in METRICS:
        rows = ListRows.of(nothing, nothing, nothing, nothing, nothing, np.empty((0, 2)))
        assert metric.values(rows, 0).shape == (0, len(metric.layout.cells))
