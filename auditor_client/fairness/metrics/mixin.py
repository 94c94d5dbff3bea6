"""Further metrics of disparity, computed from a release at no further cost.

All pairs of groups are compared and share delta: the limits of one metric hold for all pairs at
once with probability 1 - delta. Different metrics do not share delta: of twenty at delta = .05, up
to one is expected to miss. docs/explanation/metrics.md explains each metric and proves its limits.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from auditor_client.audiences.labels import JOIN
from auditor_client.errors import InputError

if TYPE_CHECKING:
    from auditor_client.fairness.metrics.estimate import Estimate
    from auditor_client.fairness.metrics.group_view import GroupView

Pair = Callable[["GroupView", "GroupView", float], "Estimate"]


class MetricsMixin:
    """Metrics of all pairs of groups; a release supplies its group views and bins."""

    def group_views(self) -> "list[GroupView]":
        """Return the groups as the metrics read them."""
        raise NotImplementedError

    def limits(self) -> list[tuple[float, float]]:
        """Return the low and high end of each bin; for a level, the level twice."""
        raise NotImplementedError

    def parity(self, threshold: float, delta: float = 0.05) -> "list[Estimate]":
        """Return demographic parity: differences of the shares that score at or above the
        threshold.
        """
        from auditor_client.fairness.metrics.parity import parity

        k, name = self._below(threshold), f"demographic parity at {threshold:g}"
        return self._pairs(delta, lambda a, b, level: parity(a, b, k, level, name))

    def impact_ratio(self, threshold: float, delta: float = 0.05) -> "list[Estimate]":
        """Return ratios of these shares. The four-fifths rule allows 0.8 to 1.25
        (`passes_four_fifths`).
        """
        from auditor_client.fairness.metrics.parity import impact_ratio

        k, name = self._below(threshold), f"impact ratio at {threshold:g}"
        return self._pairs(delta, lambda a, b, level: impact_ratio(a, b, k, level, name))

    def mean_difference(self, delta: float = 0.05) -> "list[Estimate]":
        """Return differences of mean scores, with each score at the middle of its bin."""
        from auditor_client.fairness.metrics.means import mean_difference

        rounding = self._rounding()
        return self._pairs(delta, lambda a, b, level: mean_difference(a, b, level, rounding))

    def kolmogorov_smirnov(self, delta: float = 0.05) -> "list[Estimate]":
        """Return the largest differences of cumulative shares, over the ends of bins."""
        from auditor_client.fairness.metrics.ks import kolmogorov_smirnov

        return self._pairs(delta, kolmogorov_smirnov)

    def wasserstein(self, delta: float = 0.05) -> "list[Estimate]":
        """Return the average distance that scores must move to make two groups' scores equal."""
        from auditor_client.fairness.metrics.wasserstein import wasserstein

        rounding = self._rounding()
        return self._pairs(delta, lambda a, b, level: wasserstein(a, b, level, rounding))

    def quantile_gap(self, q: float = 0.5, delta: float = 0.05) -> "list[Estimate]":
        """Return differences of the q-quantiles of scores (default: the median)."""
        from auditor_client.fairness.metrics.quantiles import quantile_gap

        if not 0 < q < 1:
            raise InputError(
                f"A quantile lies between 0 and 1, and {q} does not.", case="quantile-range"
            )
        bins = self.limits()
        return self._pairs(delta, lambda a, b, level: quantile_gap(a, b, bins, q, level))

    def equal_opportunity(
        self, threshold: float, qualified: str | None = None, delta: float = 0.05
    ) -> "list[Estimate]":
        """Return parity among qualified people: differences of their shares at or above the
        threshold.

        If the audience was crossed with qualification (`by=["gender", "qualified"]`), `qualified`
        is the value that marks qualified people, and only groups with it are compared. Without it,
        all people of the audience must be qualified (`where=` at upload). The auditor states this,
        and no release can confirm it. [IKH23], definition 5.1, requires it for every bin of scores:
        on such an audience that is `fairness_gap`.
        """
        from auditor_client.fairness.metrics.parity import parity

        k, name = self._below(threshold), f"equality of opportunity at {threshold:g}"
        chosen = [
            view
            for view in self.group_views()
            if qualified is None or view.name.split(JOIN)[-1] == qualified
        ]
        if len(chosen) < 2:
            raise InputError(
                f"Fewer than two groups end in {qualified!r}, so there is no pair to compare.",
                case="no-pair",
            )
        return _over_pairs(chosen, delta, lambda a, b, level: parity(a, b, k, level, name))

    def metrics(self, threshold: float | None = None, delta: float = 0.05) -> "list[Estimate]":
        """Return all metrics, each with its own delta; include threshold metrics if one is
        given.
        """
        at = [] if threshold is None else [self.parity, self.impact_ratio]
        found = [estimate for measure in at for estimate in measure(threshold or 0.0, delta)]
        for measure in (self.mean_difference, self.kolmogorov_smirnov, self.wasserstein):
            found += measure(delta)
        return [*found, *self.quantile_gap(0.5, delta)]

    def _pairs(self, delta: float, measure: Pair) -> "list[Estimate]":
        return _over_pairs(self.group_views(), delta, measure)

    def _below(self, threshold: float) -> int:
        return bins_below(self.limits(), threshold)

    def _rounding(self) -> float:
        """Return the largest rounding: half a bin per score, so one bin for two groups."""
        return max(high - low for low, high in self.limits())


def bins_below(bins: Sequence[tuple[float, float]], threshold: float) -> int:
    """Return the number of bins below the threshold, which must be an edge between two bins."""
    levels = all(low == high for low, high in bins)
    k = sum(high < threshold if levels else high <= threshold for _, high in bins)
    if not 0 < k < len(bins) or not (levels or bins[k][0] == threshold):
        ends = ", ".join(f"{low:g}" for low, _ in bins[1:])
        raise InputError(
            f"The threshold {threshold:g} is not an edge between two bins. The edges are: {ends}.",
            case="threshold-inside-a-bin",
        )
    return k


def _over_pairs(views: "Sequence[GroupView]", delta: float, measure: Pair) -> "list[Estimate]":
    pairs = list(combinations(views, 2))
    if not pairs:
        raise InputError("A comparison needs at least two groups.", case="few-groups")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, not {delta}.")
    return [measure(first, second, delta / len(pairs)) for first, second in pairs]
