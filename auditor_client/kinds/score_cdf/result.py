"""Cumulative score counts: noisy numbers of the people of each group who score up to each edge."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from auditor_client.fairness.metrics.mixin import MetricsMixin
from auditor_client.kinds.building_blocks.cumulative_counts import RunningCounts
from auditor_client.stats.noise_distributions import Laplace
from openapi.kinds import score_cdf as contract
from openapi.resources import AuditKind, ScoreCdfRelease

if TYPE_CHECKING:
    from auditor_client.fairness.metrics.group_view import GroupView


@dataclass(frozen=True, repr=False)
class ScoreCdfResult(MetricsMixin, RunningCounts[ScoreCdfRelease]):
    """Noisy cumulative counts of people.

    [IKH23, eq. 5] calls the tail 1{R > y} a CDF, and noise on each cumulative count would not be
    private at that price. Here the counts come from a tree. Metrics use the proved bounds of its
    error (docs/explanation/metrics.md). There is no fairness gap, which needs a histogram.
    """

    kind: ClassVar[AuditKind] = contract.KIND.name
    all_there_is: ClassVar[str] = "everybody"

    def limits(self) -> list[tuple[float, float]]:
        """Return the low and high end of each bin."""
        return list(pairwise(self.release.bins.edges))

    def group_views(self) -> "list[GroupView]":
        """Return the groups as the metrics read them."""
        from auditor_client.fairness.metrics.group_view import CdfGroupView

        stated = self.part("cdf")
        node = Laplace(1 / stated.noise_scale)
        # The stated deviation is that of the worst cumulative count; nodes have this distribution.
        copies = stated.standard_deviation**2 / node.variance
        middles = tuple((low + high) / 2 for low, high in self.limits())
        return [
            CdfGroupView(name, tuple(counts), node.rate, copies, middles)
            for name, counts in self.cumulative.items()
        ]
