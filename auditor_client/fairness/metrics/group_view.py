"""Views of one group of a release for metrics: events, and sums of a function of the score.

An event is a `GroupCounts` of one cell: the number of people in the first k bins (`lower`), or not
in them (`upper`). Scores outside of all bins count as `upper`, as in the tail of [IKH23, eq. 5]. A
sum is Σ f(bin)·count, with bounds of the exponential moments of its noise. `f` has a column per
bin, and may have one more for `outside` (default: 0).

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.1, eq. 5.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import (
    AnyNoise,
    Floats,
    Laplace,
    TreeError,
    distribution,
    sum_of_draws,
)


class GroupView(ABC):
    """Scores of one group, as its release shows them."""

    name: str
    middles: tuple[float, ...]

    @property
    def bins(self) -> int:
        """Return the number of bins without `outside`."""
        return len(self.middles)

    @property
    @abstractmethod
    def size(self) -> GroupSizeEstimate:
        """Return the estimate of the number of people."""

    @abstractmethod
    def lower(self, k: int) -> GroupCounts:
        """Return the event of the people in the first k bins."""

    @abstractmethod
    def upper(self, k: int) -> GroupCounts:
        """Return the event of the people who are not in the first k bins."""

    @abstractmethod
    def sums(self, f: Floats) -> Floats:
        """Return Σ f(bin)·count for each row of `f`."""

    @abstractmethod
    def log_mgf(self, f: Floats) -> Floats:
        """Return log E exp of the noise in `sums(f)`, or an upper bound; infinite if unknown."""

    @abstractmethod
    def log_mgf_lipschitz(self, s: Floats, most: float) -> Floats:
        """Return a bound of log E exp of the noise in Σ s·(f - c)·count over all cells, `outside`
        too.

        The bound holds for every f with slopes of at most one that is 0 at `centre` and `outside`,
        and for |c| <= most.
        """

    @property
    @abstractmethod
    def most_tilt(self) -> float:
        """`log_mgf(f)` is finite for |f| below this."""

    @property
    def centre(self) -> float:
        """The middle of the range of scores."""
        return (self.middles[0] + self.middles[-1]) / 2

    def inside(self) -> float:
        """Return the noisy number of people inside the bins."""
        return float(self.sums(np.ones((1, self.bins)))[0])

    def share_below(self, k: int) -> float:
        """Return the measured share of people in the first k bins, from the less noisy count."""
        low, high = self.lower(k), self.upper(k)
        if distribution(high.rate).variance < distribution(low.rate).variance:
            return 1 - high.table[0] / self.size.estimate
        return low.table[0] / self.size.estimate


@dataclass(frozen=True)
class HistogramGroupView(GroupView):
    """View from noisy counts per bin; the last count is of people outside all bins."""

    name: str
    group: GroupCounts
    middles: tuple[float, ...]

    @property
    def size(self) -> GroupSizeEstimate:
        return self.group.size

    def lower(self, k: int) -> GroupCounts:
        return self._event(self.group.table[:k])

    def upper(self, k: int) -> GroupCounts:
        return self._event(self.group.table[k:])

    def sums(self, f: Floats) -> Floats:
        return np.asarray(f @ np.asarray(self.group.table[: f.shape[-1]], np.float64))

    def log_mgf(self, f: Floats) -> Floats:
        one = distribution(self.group.rate)
        logs = np.where(np.abs(f) < one.most_tilt, one.log_mgf(f), np.inf)
        return np.asarray(logs.sum(axis=-1))

    def log_mgf_lipschitz(self, s: Floats, most: float) -> Floats:
        far = np.abs(np.asarray(self.middles) - self.centre) + most
        return self.log_mgf(np.multiply.outer(s, np.append(far, most)))

    @property
    def most_tilt(self) -> float:
        return distribution(self.group.rate).most_tilt

    def _event(self, cells: tuple[int, ...]) -> GroupCounts:
        return GroupCounts((sum(cells),), self.size, sum_of_draws(self.group.rate, len(cells)))


@dataclass(frozen=True)
class CdfGroupView(GroupView):
    """View from cumulative counts of a consistent tree; the last count is of everybody.

    `copies` bounds Σ c² over the tree's nodes for every cumulative count; see
    docs/explanation/metrics.md.
    """

    name: str
    running: tuple[float, ...]
    rate: float
    copies: float
    middles: tuple[float, ...]

    @property
    def size(self) -> GroupSizeEstimate:
        return GroupSizeEstimate(round(self.running[-1]), 1, self._error(1.0))

    def lower(self, k: int) -> GroupCounts:
        value = 0.0 if k == 0 else self.running[k - 1]
        return GroupCounts((round(value),), self.size, self._error(self.copies))

    def upper(self, k: int) -> GroupCounts:
        # Everybody minus a cumulative count: coefficients of norm at most 1 + √copies, each at most
        # 1.
        value = self.running[-1] - (0.0 if k == 0 else self.running[k - 1])
        return GroupCounts((round(value),), self.size, self._error((1 + self.copies**0.5) ** 2))

    def sums(self, f: Floats) -> Floats:
        counts = np.diff(np.asarray((0.0, *self.running)))
        return np.asarray(f @ counts[: f.shape[-1]])

    def log_mgf(self, f: Floats) -> Floats:
        # Σ f·count is made of running counts with the steps of f as weights, and of everybody; a
        # node's coefficient is at most the range of f with 0   (docs/explanation/metrics.md)
        rest = f[..., self.bins] if f.shape[-1] > self.bins else np.zeros(f.shape[:-1])
        steps = np.abs(np.diff(f[..., : self.bins], axis=-1)).sum(axis=-1)
        steps = steps + np.abs(f[..., self.bins - 1] - rest)
        most = np.maximum(f.max(axis=-1), 0.0) - np.minimum(f.min(axis=-1), 0.0)
        return self._nodes(steps * self.copies**0.5 + np.abs(rest), most)

    def log_mgf_lipschitz(self, s: Floats, most: float) -> Floats:
        # Steps of f add up to the range; the last one, to 0, is half of it; c goes to everybody.
        wide = self.middles[-1] - self.middles[0]
        return self._nodes(s * (1.5 * wide * self.copies**0.5 + most), s * max(wide, most))

    @property
    def most_tilt(self) -> float:
        # A function and zero span up to twice the largest value.
        return self.rate / 2

    def _nodes(self, norm: Floats, most: Floats) -> Floats:
        """Bound Σ log E exp(k Z) over nodes with Σ k² <= norm² and |k| <= most; it is convex in
        k².
        """
        known = (most > 0) & (most < self.rate)
        safe = np.where(known, most, 0.5 * self.rate)
        logs = (norm / safe) ** 2 * Laplace(self.rate).log_mgf(safe)
        return np.where(known, logs, np.where(most == 0, 0.0, np.inf))

    def _error(self, copies: float) -> AnyNoise:
        return TreeError(self.rate, copies)
