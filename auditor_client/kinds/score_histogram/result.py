"""Finished score histogram: the release, its receipt, and statements about fairness."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.fairness.metrics.mixin import MetricsMixin
from auditor_client.kinds.protocol import Result
from auditor_client.stats.noise_distributions import Gaussian, Laplace, Noise, NoNoise
from auditor_client.stats.nonnegative_projection import project_to_total
from openapi.kinds import score_histogram as contract
from openapi.resources import (
    AuditKind,
    Content,
    Edges,
    Levels,
    ScoreHistogramRelease,
    ScoreHistogramRequest,
)

if TYPE_CHECKING:
    import polars as pl

    from auditor_client.charts.chart import Chart
    from auditor_client.fairness.assumption_checks import Assumption
    from auditor_client.fairness.bin_tests import GroupCounts
    from auditor_client.fairness.gap import Criterion, FairnessGap
    from auditor_client.fairness.gap_drivers import Driver
    from auditor_client.fairness.metrics.group_view import GroupView
    from auditor_client.fairness.worst_impact import ImpactRatio

OUTSIDE = "outside"
# The usual share from which an impact ratio counts.
LEAST_SHARE = 0.2


@dataclass(frozen=True, repr=False)
class ScoreHistogramResult(MetricsMixin, Result[ScoreHistogramRelease]):
    """A score histogram whose receipt was verified. A result from a receipt file has no `audit`."""

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: ScoreHistogramRequest, made: ScoreHistogramRelease) -> Iterator[str]:
        bins = asked.bins
        number = len(bins.levels) if isinstance(bins, Levels) else len(bins.edges) - 1
        if made.bins != bins or any(len(group.counts) != number for group in made.groups):
            yield "bins"
        if any(part.mechanism != asked.mechanism for part in made.price.parts):
            yield "mechanism"
        if made.least_share != asked.least_share:
            yield "least_share"

    @property
    def content(self) -> Content | None:
        """The scored content, if this machine knows it."""
        return self.contents[0] if self.contents else None

    @property
    def counts(self) -> dict[str, list[int]]:
        """Noisy counts by name of group; the last one is of scores outside all bins."""
        groups = self.release.groups
        return self.by_name({group.label: [*group.counts, group.outside] for group in groups})

    @property
    def known_sizes(self) -> dict[str, int]:
        """Exact numbers of scored people, if known."""
        return self._sizes("known")

    @property
    def noisy_sizes(self) -> dict[str, int]:
        """Noisy numbers of scored people, if they were bought."""
        return self._sizes("noisy")

    def epsilon(self, part: str = "bins") -> Fraction:
        """Return 1 / scale of the noise on one number of a part of the release.

        A person in up to k groups moves k cells, so the scale is k / epsilon.
        """
        stated = self.part(part)
        if stated.mechanism != "discrete-laplace":
            raise InputError(f"The noise of the {part} is {stated.mechanism}: see `noise`.")
        return 1 / Fraction(stated.noise_scale)

    def noise(self, part: str = "bins") -> Noise:
        """Return the distribution of the noise on one number of a part of the release."""
        stated = self.part(part)
        if stated.mechanism == "discrete-gaussian":
            return Gaussian(stated.noise_scale**2)
        return Laplace(float(self.epsilon(part)))

    @property
    def design_effect(self) -> float:
        """By how much clusters of people may raise a variance (default: 1, no clusters)."""
        return float(self.clusters["design_effect"]) if self.clusters else 1.0

    def groups(self) -> "dict[str, GroupCounts]":
        """Return the groups for the analysis: counts, their noise, and known sizes.

        People in clusters count as fewer who are independent; `scored_groups` has them all.
        """
        from auditor_client.fairness.clustered_counts import clustered

        return clustered(self.scored_groups(), self.design_effect)

    def scored_groups(self) -> "dict[str, GroupCounts]":
        """Return the groups as they were released."""
        noise = self.noise("bins")
        size_noise = self.noise("sizes") if self.noisy_sizes else NoNoise()
        from auditor_client.fairness.gap import measured_groups  # SciPy takes seconds to import

        return measured_groups(self.counts, noise, self.known_sizes, self.noisy_sizes, size_noise)

    def fairness_gap(
        self, delta: float = 0.05, criterion: "Criterion" = "distribution"
    ) -> "FairnessGap":
        """Return the empirical fairness gap with an interval that holds with probability 1 - delta.

        `criterion` defines what a verdict covers: "distribution" (default) every bin and every
        threshold, "bins" single bins, "four-fifths" the worst impact ratio.
        """
        from auditor_client.fairness.gap import gap_of

        try:
            return gap_of(
                self.groups(), delta, criterion, outside=True, least_share=self.least_share
            )
        except ValueError as error:
            raise InputError(f"There is no gap to compute: {error}.", case="no-gap") from error

    def pair_gaps(self, delta: float = 0.05) -> "list[FairnessGap]":
        """Return the gap of each pair of groups; all hold at once with probability 1 - delta."""
        from auditor_client.fairness.gap_drivers import pair_gaps

        return pair_gaps(self.groups(), delta)

    def drivers(self, delta: float = 0.05, most: int | None = None) -> "list[Driver]":
        """Return the difference of each pair in each bin, the clearest first; all limits hold at
        once.

        With `most`, compute only that number of bins for each pair: those with the largest measured
        differences.
        """
        from auditor_client.fairness.gap_drivers import drivers

        return drivers(self.groups(), delta, most)

    def marginal_gap(self, attribute: int, delta: float = 0.05) -> "FairnessGap":
        """Return the gap by one attribute of a crossed audience; 0 is the first column of `by`."""
        from auditor_client.fairness.gap import gap_of
        from auditor_client.fairness.marginal_groups import merge_by_attribute

        return gap_of(merge_by_attribute(self.groups(), attribute), delta, outside=True)

    @property
    def least_share(self) -> float:
        """The share from which an impact ratio counts, as the request fixed it."""
        stated = self.release.least_share
        return LEAST_SHARE if stated is None else float(stated)

    def worst_impact(self, delta: float = 0.05, least_share: float | None = None) -> "ImpactRatio":
        """Return the worst impact ratio over all edges above which a group may have the least
        share.

        That share is the signed request's. Raise InputError if another is given: one chosen after
        the audit would have no error probability.
        """
        from auditor_client.fairness.worst_impact import worst_impact

        if least_share is not None and least_share != self.least_share:
            raise InputError(
                f"The request fixed a least share of {self.least_share:g}, not {least_share:g}.",
                case="another-least-share",
            )
        if len(self.release.groups) < 2:
            raise InputError("One group has no impact ratio.", case="no-gap")
        return worst_impact(self.groups(), delta, self.least_share, outside=True)

    def edge_score(self, edge: int) -> float | None:
        """Return the score from which people are above an edge; None below the outside count."""
        limits = self.limits()
        return limits[edge][0] if edge < len(limits) else None

    def assumptions(self, alpha: float = 0.2, delta: float = 0.05) -> "list[Assumption]":
        """Check the paper's assumptions after the audit, as far as possible."""
        from auditor_client.fairness.assumption_checks import check

        return check(self.groups(), self.part("bins"), alpha, delta)

    def group_views(self) -> "list[GroupView]":
        """Return the groups as the metrics read them."""
        from auditor_client.fairness.metrics.group_view import HistogramGroupView

        middles = tuple((low + high) / 2 for low, high in self.limits())
        return [HistogramGroupView(name, group, middles) for name, group in self.groups().items()]

    def limits(self) -> list[tuple[float, float]]:
        """Return the low and high end of each bin; for a level, the level twice."""
        return bin_limits(self.release.bins)

    def bin_names(self) -> list[str]:
        """Return one name per count, in words: an interval, a level, or outside."""
        return [*(_words(low, high) for low, high in self.limits()), OUTSIDE]

    def table(self, *, consistent: bool = False) -> pa.Table:
        """Return group, bin and noisy count, one row each; the bin `outside` has no limits.

        With `consistent`, counts become non-negative and add up to the number of scored people if
        it is known (else to the sum of the bins). This has no further price; see
        `auditor_client.stats.nonnegative_projection`. Verdicts use the unchanged counts.
        """
        limits: list[tuple[float | None, float | None]] = [*self.limits(), (None, None)]
        rows = [
            {"group": name, "low": low, "high": high, "count": count}
            for name, counts in (self._projected() if consistent else self.counts).items()
            for (low, high), count in zip(limits, counts, strict=True)
        ]
        types = {"group": pa.string(), "low": pa.float64(), "high": pa.float64()}
        number = pa.float64() if consistent else pa.int64()
        return pa.Table.from_pylist(rows, pa.schema({**types, "count": number}))

    def frame(self, *, consistent: bool = False) -> "pl.DataFrame":
        """Return `table` as a Polars DataFrame; needs `platform-auditor[logs]`."""
        from auditor_client.local.data_frame import data_frame

        return data_frame(self.table(consistent=consistent))

    def share_chart(self) -> "Chart":
        """Return a chart of noisy shares per bin and group, with limits. A notebook displays it."""
        from auditor_client.fairness.bin_intervals import measured_shares
        from auditor_client.kinds.score_histogram.charts import share_chart

        return share_chart(self, measured_shares(self.groups()))

    def gap_chart(self, alpha: float = 0.2) -> "Chart":
        """Chart the measured gap of each bin, with the tolerated gap."""
        from auditor_client.fairness.bin_intervals import measured_shares
        from auditor_client.kinds.score_histogram.charts import gap_chart

        return gap_chart(self, measured_shares(self.groups()), alpha)

    def numbers(self) -> dict[str, Any]:
        return {"bins": self.bin_names(), **self.counts, "error_95": self.error_95}

    @property
    def error_95(self) -> int:
        """Error that each count alone exceeds with a probability of at most 5 %."""
        return self.part("bins").error_95

    def _projected(self) -> Mapping[str, Sequence[float]]:
        sizes = self.noisy_sizes | self.known_sizes
        return {
            name: [float(count) for count in project_to_total(counts, sizes.get(name, sum(counts)))]
            for name, counts in self.counts.items()
        }

    def _sizes(self, kind: str) -> dict[str, int]:
        found = {group.label: group.size for group in self.release.groups}
        named = self.by_name(found).items()
        return {n: size.value for n, size in named if size.kind == kind and size.value is not None}


def bin_limits(bins: Edges | Levels) -> list[tuple[float, float]]:
    """Return the low and high end of each bin; for a level, the level twice."""
    if isinstance(bins, Edges):
        return list(pairwise(bins.edges))
    return [(level, level) for level in bins.levels]


def _words(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
