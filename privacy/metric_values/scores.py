"""Values of scores and outcomes: calibration by kernels, and discrimination of scores.

[OHB26] eqs. 10-12 (POT), eqs. 14-17 (AUC).
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from privacy.errors import BoundsError
from privacy.metric_values.layout import Integers, Layout, MemberRows, sum_by_person
from privacy.metric_values.list_caps import Caps, Numbers, mix_bits, select_first
from privacy.metric_values.list_extraction import ListRows, extract_lists
from privacy.tables.fixed_point import to_fixed_point


@dataclass(frozen=True)
class Kernels:
    """Pointwise outcome test: kernel weights at reference points, and outcomes with these weights.

    The kernel is exp(-(s - s_q)²/2h²), at most 1; outcomes are scaled to [0, 1]. Every position of
    a list counts separately, and a viewer has at most `caps.viewer` of them.

    Reach. A position adds at most e in L1 to its candidate. A person who leaves removes c positions
    from their own row, ce; and v positions as a viewer, each from one row, whose owner may get
    another position instead: 2ev. If lists have no owner, a person who leaves uncovers a position
    for each one that they do not remove: ce, and no more.
    """

    points: tuple[float, ...]
    bandwidth: float
    low: float = 0.0
    high: float = 1.0
    scale: int = 1000
    caps: Caps = field(default_factory=Caps)

    def __post_init__(self) -> None:
        if not self.points or not np.all(np.diff(self.points) > 0) or not self.bandwidth > 0:
            raise BoundsError("reference points must increase, and the bandwidth must be above 0")
        if not self.low < self.high or self.caps.length != 1 or self.caps.candidate is None:
            raise BoundsError(
                "outcomes must have a range, and a position must have one candidate, a person"
            )

    @property
    def layout(self) -> Layout:
        points = range(len(self.points))
        cells = (*(f"weight {q}" for q in points), *(f"outcome {q}" for q in points))
        most = self._candidate * self.scale
        # A weighted outcome is at most its weight, and each is rounded up by at most a half.
        each = math.ceil(2 * self._mass * self.scale) + len(cells)
        moved = 2 * each * (self.caps.viewer or 0)
        return Layout(cells, self.scale, 0, most, self._candidate * each, moved)

    @property
    def events(self) -> int:
        """Number of positions that may depend on one position, including itself: those of its
        candidate and its viewer.
        """
        return self._candidate + (self.caps.viewer or 1) - 1

    @property
    def _candidate(self) -> int:
        return self.caps.candidate or 0

    def values(self, rows: ListRows, people: int, seed: int = 0) -> Integers:
        """Return a row for each person, from rows whose numbers are the score and the outcome."""
        lists = extract_lists(rows.alone, self.caps, seed)
        score, outcome = lists.numbers[:, 0, 0], lists.numbers[:, 0, 1]
        return sum_by_person(self.rows(score, outcome), lists.candidates[:, 0], people)

    @property
    def _mass(self) -> float:
        """Largest sum of the weights of one score."""
        if len(self.points) == 1:
            return 1.0
        # Σ_q K(s - s_q) <= 1 + ∫K / least distance, as K falls on either side of s
        apart = float(np.diff(self.points).min())
        return min(len(self.points), 1 + self.bandwidth * math.sqrt(2 * math.pi) / apart)

    def rows(self, score: ArrayLike, outcome: ArrayLike) -> Integers:
        """Return a row per event of a candidate; an undefined score is far from every point."""
        numbers = np.nan_to_num(np.asarray(score, np.float64), nan=np.inf)
        apart = np.subtract.outer(numbers, np.asarray(self.points)) / self.bandwidth
        weights = np.exp(-(apart**2) / 2)
        worth = np.nan_to_num(np.asarray(outcome, np.float64), nan=self.low)
        part = (np.clip(worth, self.low, self.high) - self.low) / (self.high - self.low)
        return to_fixed_point(np.hstack([weights, weights * part[:, np.newaxis]]), self.scale)


@dataclass(frozen=True)
class ScoreBins:
    """Positives and negatives by bin of the score, which determine a soft group's AUC.

    Over *all* pairs of a positive and a negative the product of two people's weights factors into
    sums of single ones, so no pairs are formed; ties are pairs in one bin.
    """

    edges: tuple[float, ...]
    events: int = 1

    def __post_init__(self) -> None:
        if len(self.edges) < 1 or not np.all(np.diff(self.edges) > 0):
            raise BoundsError(
                "bins must have increasing edges; scores below the first edge are a bin too"
            )

    @property
    def bins(self) -> int:
        return len(self.edges) + 1

    @property
    def layout(self) -> Layout:
        numbers = range(self.bins)
        cells = (*(f"positive {b}" for b in numbers), *(f"negative {b}" for b in numbers))
        return Layout(cells, 1, 0, self.events, self.events)

    def rows(self, score: ArrayLike, actual: ArrayLike) -> Integers:
        """Return 1 among the positives or the negatives of a bin; bins start at the lowest
        score.
        """
        numbers = np.nan_to_num(np.asarray(score, np.float64), nan=-np.inf)
        bin_index = np.searchsorted(self.edges, numbers, side="right")
        negative = ~np.asarray(actual, np.bool_)
        return np.eye(2 * self.bins, dtype=np.int64)[bin_index + self.bins * negative]


def every_score(member: Numbers, score: ArrayLike, actual: ArrayLike) -> MemberRows:
    """Return positives and negatives (the columns) by every existing score, for the exact ROC
    curve.
    """
    numbers = np.nan_to_num(np.asarray(score, np.float64), nan=-np.inf)
    cell = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    positive = np.asarray(actual, np.bool_)
    values = np.column_stack([positive, ~positive]).astype(np.int64)
    return MemberRows(member[:, np.newaxis], cell, member, values)


@dataclass(frozen=True)
class SampledPairs:
    """Pairs of a positive and a negative for Mann and Whitney's statistic, ties worth one half.

    In each round, the number of an event determines its bucket, one of `buckets`. The first
    positive and the first negative of each bucket, by an order fixed beforehand, form a pair. So a
    person has at most `events` pairs per round, because their events are capped first. A person who
    comes or goes changes at most one pair in each bucket of their events, and no others.
    """

    buckets: int
    rounds: int
    events: int = 1
    scale: int = 2

    def __post_init__(self) -> None:
        if min(self.buckets, self.rounds, self.events) < 1 or self.scale % 2:
            raise BoundsError(
                "pairs must have buckets, rounds and events, and an even scale for ties"
            )

    @property
    def pairs_per_person(self) -> int:
        """Largest number of pairs that change if one person comes or goes."""
        return self.rounds * self.events

    def rows(
        self, event: Numbers, person: Numbers, score: ArrayLike, actual: ArrayLike, seed: int = 0
    ) -> MemberRows:
        """Return pairs of events; `event` are stable numbers of the log. The columns are: won, and
        1.
        """
        kept = np.flatnonzero(
            select_first(person, mix_bits(event, seed), self.events) & (person >= 0)
        )
        positive = np.asarray(actual, np.bool_)[kept]
        numbers = np.asarray(score, np.float64)[kept]
        pairs = [
            self._round(mix_bits(event[kept], seed + 1 + number), positive)
            for number in range(self.rounds)
        ]
        above, below = (np.concatenate(side) for side in zip(*pairs, strict=True))
        won = np.where(numbers[above] > numbers[below], self.scale, 0)
        won = np.where(numbers[above] == numbers[below], self.scale // 2, won)
        return MemberRows(
            members=np.column_stack([person[kept][above], person[kept][below]]),
            cell=np.zeros(len(won), np.int64),
            unit=np.arange(len(won), dtype=np.int64),
            values=np.column_stack([won, np.full(len(won), self.scale)]).astype(np.int64),
        )

    def _round(self, order: np.ndarray, positive: np.ndarray) -> tuple[Numbers, Numbers]:
        bucket = (order % np.uint64(self.buckets)).astype(np.int64)
        chosen = np.full((2, self.buckets), -1, np.int64)
        for side, members in enumerate((np.flatnonzero(positive), np.flatnonzero(~positive))):
            ahead = members[select_first(bucket[members], order[members], 1)]
            chosen[side, bucket[ahead]] = ahead
        both = (chosen >= 0).all(axis=0)
        return chosen[0, both], chosen[1, both]
