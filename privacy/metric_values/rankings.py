"""Values of ranked lists, which connect people, so every role is capped.

Blank relevance (`list_caps`) is not part of a list. Places keep their discount, so a list that is
perfect without blanks stays perfect with them.

[OHB26] eqs. 7-9: Ỹ = Y / IDCG, NDCG = DCG / IDCG, DCG = Σ_p (2^rel - 1) / log2(p + 1).
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.metric_values.layout import Integers, Layout, MemberRows, sum_by_person
from privacy.metric_values.list_caps import NOBODY, Caps, Numbers, mix_bits
from privacy.metric_values.list_extraction import Floats, ListRows, extract_lists
from privacy.tables.fixed_point import to_fixed_point


@dataclass(frozen=True)
class Ndcg:
    """Quality of service for viewers: each viewer's number of lists and the sum of their NDCG.

    A list without relevant content has no NDCG and does not count.

    Reach. A list adds at most s = `scale` to either cell of its viewer, and changes them by at most
    2s, whatever happens in it. With people listed, a person who leaves changes at most c lists as a
    candidate and v·L by letting others in (`list_caps`), all of which may be other viewers': they
    move by 2s(c + v·L). Their own row is v lists, 2sv. Items let nobody in: nothing else moves.
    """

    caps: Caps = field(default_factory=lambda: Caps(length=10))
    scale: int = 1000

    def __post_init__(self) -> None:
        if self.caps.viewer is None:
            raise BoundsError("NDCG needs viewers: lists without an owner have none")

    @property
    def layout(self) -> Layout:
        most = self._viewer * self.scale
        moved = 0 if self.caps.candidate is None else self.caps.lists - self._viewer
        return Layout(("queries", "ndcg"), self.scale, 0, most, 2 * most, 2 * self.scale * moved)

    @property
    def events(self) -> int:
        """Number of lists that may depend on one list, including itself: those of its viewer and
        its candidates.
        """
        return self._viewer + self.caps.length * ((self.caps.candidate or 1) - 1)

    @property
    def _viewer(self) -> int:
        return self.caps.viewer or 0

    def values(self, rows: ListRows, people: int, seed: int = 0) -> Integers:
        """Return a row for each person, from rows whose number is the relevance."""
        lists = extract_lists(rows, self.caps, seed)
        return sum_by_person(
            self.rows(lists.numbers[:, :, 0], lists.candidates), lists.viewer, people
        )

    def rows(self, relevance: Floats, candidates: Numbers) -> Integers:
        """Return a row per list, from relevance in the shown order and the people by position."""
        gains = np.where(candidates == NOBODY, 0.0, gain(relevance))
        ideal = ideal_gain(gains, candidates != NOBODY)
        counts = ideal > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ndcg = np.where(counts, discount(gains) / ideal, 0.0)
        one = np.where(counts, self.scale, 0)
        return np.column_stack([one, np.minimum(to_fixed_point(ndcg, self.scale), one)])


@dataclass(frozen=True)
class AdjacentRanks:
    """Listwise outcome test: the excess value of the upper of two neighbours over the lower.

    The groups of two people multiply, which one party can do only if it has both unencrypted. So
    this is for the setting of two teams (docs/explanation/two-party.md), with the difference and 1
    as its columns. `most` bounds |Ỹ|; use `normalised=True` for relevance that is already
    normalised.
    """

    ranks: int = 10
    scale: int = 10**6
    most: float = 1.0
    normalised: bool = False

    def rows(self, relevance: Floats, candidates: Numbers) -> MemberRows:
        """Return a row for each pair of neighbours in a list who are both present."""
        if relevance.shape != candidates.shape or relevance.shape[1] > self.ranks:
            raise BoundsError(
                f"lists must have a candidate for each relevance, at most {self.ranks}",
                case="relevances",
            )
        worth = np.clip(self._worth(relevance, candidates), -self.most, self.most)
        there = (candidates[:, :-1] != NOBODY) & (candidates[:, 1:] != NOBODY)
        query, rank = np.nonzero(there)
        gaps = to_fixed_point(worth[query, rank] - worth[query, rank + 1], self.scale)
        return MemberRows(
            members=np.column_stack([candidates[query, rank], candidates[query, rank + 1]]),
            cell=rank.astype(np.int64),
            unit=query.astype(np.int64),
            values=np.column_stack([gaps, np.full(len(gaps), self.scale, np.int64)]),
        )

    def _worth(self, relevance: Floats, candidates: Numbers) -> Floats:
        if self.normalised:
            return relevance
        there = candidates != NOBODY
        ideal = ideal_gain(np.where(there, gain(relevance), 0.0), there)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ideal[:, np.newaxis] > 0, relevance / ideal[:, np.newaxis], 0.0)


@dataclass(frozen=True)
class RankGaps:
    """Listwise outcome test with one person's group at a time, for the service.

    There, the weights of two people cannot be multiplied, because nobody has both unencrypted. Each
    list gives one pair of neighbours, at a rank drawn from its number. The gap of their relevance
    is scaled to [0, 1], not by the list's own ideal, on which everybody in it has influence. It
    goes to the row of the requested `side`: the person above, or the person below.

    Reach. A pair adds at most s = `scale` to either of two cells of one row, 2s. A person who
    leaves removes at most c pairs as a candidate, each from one row, their own or the other's: 2sc
    in total, which is also the limit of their own row. As a viewer they remove v pairs, and either
    of the two people in each may enter another pair: three times 2s each, 6sv. If lists have no
    owner, a person who leaves removes or uncovers one position for each of theirs
    (`list_extraction`): 2sc, and no more.
    """

    ranks: int = 10
    side: Literal["above", "below"] = "above"
    low: float = 0.0
    high: float = 1.0
    scale: int = 1000
    viewer: int | None = 1
    candidate: int = 1

    def __post_init__(self) -> None:
        if self.ranks < 2 or not self.low < self.high or self.side not in ("above", "below"):
            raise BoundsError("gaps must have at least two ranks, a range of relevance, and a side")

    @property
    def caps(self) -> Caps:
        return Caps(self.viewer, self.candidate, 2)

    @property
    def layout(self) -> Layout:
        ranks = range(self.ranks - 1)
        cells = (*(f"gap {r}" for r in ranks), *(f"pairs {r}" for r in ranks))
        most, moved = self.candidate * self.scale, 6 * self.scale * (self.viewer or 0)
        return Layout(cells, self.scale, -most, most, 2 * most, moved)

    @property
    def events(self) -> int:
        """Number of pairs that may depend on one pair, including itself: those of its two people
        and its viewer.
        """
        return 2 * self.candidate - 1 + (self.viewer or 1) - 1

    def values(self, rows: ListRows, people: int, seed: int = 0) -> Integers:
        """Return a row for each person, from rows whose number is the relevance."""
        at = rows.position - self.drawn(rows.number, seed)
        lists = extract_lists(replace(rows, position=at), self.caps, seed)
        rank = self.drawn(lists.number, seed)
        gaps = self.rows(rank, lists.numbers[:, :, 0], lists.candidates)
        return sum_by_person(gaps, lists.candidates[:, 0 if self.side == "above" else 1], people)

    def drawn(self, number: Numbers, seed: int) -> Numbers:
        """Return the rank, from 0, of the pair of each list."""
        return (mix_bits(number, seed + 1) % np.uint64(self.ranks - 1)).astype(np.int64)

    def rows(self, rank: Numbers, relevance: Floats, candidates: Numbers) -> Integers:
        """Return a row per pair, for the person on the side; a blank position gives none."""
        worth = np.clip(np.nan_to_num(relevance, nan=self.low), self.low, self.high)
        gap = to_fixed_point((worth[:, 0] - worth[:, 1]) / (self.high - self.low), self.scale)
        there = (candidates != NOBODY).all(axis=1)
        found = np.zeros((len(rank), 2 * (self.ranks - 1)), np.int64)
        number = np.arange(len(rank))
        found[number, rank] = np.where(there, gap, 0)
        found[number, rank + self.ranks - 1] = np.where(there, self.scale, 0)
        return found


def gain(relevance: Floats) -> Floats:
    # 2^rel - 1 [OHB26, §5.3]; negative or undefined relevance counts as zero gain
    return np.asarray(np.exp2(np.clip(np.nan_to_num(relevance), 0.0, 30.0)) - 1)


def discount(gains: Floats) -> Floats:
    # DCG = Σ_p gain / log2(p + 1), p from 1   [OHB26, §5.3]
    return np.asarray(gains @ _discounts(gains.shape[1]))


def ideal_gain(gains: Floats, there: NDArray[np.bool_]) -> Floats:
    """Return the DCG of the best order of the same gains in the same positions."""
    discounts = -np.sort(-np.where(there, _discounts(gains.shape[1]), 0.0), axis=1)
    return np.asarray((-np.sort(-gains, axis=1) * discounts).sum(axis=1))


def _discounts(length: int) -> Floats:
    return np.asarray(1 / np.log2(np.arange(2, length + 2)))
