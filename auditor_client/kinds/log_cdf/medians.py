"""Confidence limits of the median of a logged number, for the drawn rows."""

import math
from dataclasses import dataclass

from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.stats.noise import sum_quantile
from auditor_client.stats.noise_distributions import Laplace
from auditor_client.stats.noise_sums import TreeError


@dataclass(frozen=True, slots=True)
class Median:
    """Limits of a median: half of the rows lie at or below some value between them."""

    group: str
    low: float
    high: float


def medians(audit: LogCdfResult, delta: float) -> list[Median]:
    """Return the median of each group; all limits hold at once with probability 1 - delta.

    The number of rows up to an edge minus half of all rows is known up to noise. Edges are tested
    from the outside inwards, up to the first that is undecided, so that only the test at the edge
    next to the median can err. So no union bound over edges is needed
    (docs/explanation/metrics.md).
    """
    stated = audit.part("cdf")
    rate = 1 / stated.noise_scale
    # The weights of a cumulative count have the norm √copies, those of half of all rows the norm
    # 1/2.
    copies = (math.sqrt(stated.standard_deviation**2 / Laplace(rate).variance) + 0.5) ** 2
    level = delta / 2 / max(len(audit.cumulative), 1)
    off = sum_quantile(((1, TreeError(rate, copies), 1),), level)
    start = audit.release.bins.edges[0]
    return [
        Median(name, *_limits([start, *audit.edges], counts, off))
        for name, counts in audit.cumulative.items()
    ]


def _limits(edges: list[float], counts: list[float], off: float) -> tuple[float, float]:
    surplus = [count - counts[-1] / 2 for count in counts[:-1]]
    low, high = 0, len(edges)
    while high > 1 and surplus[high - 2] > off:
        high -= 1
    while low < len(edges) - 2 and surplus[low] < -off:
        low += 1
    return edges[min(low, high - 1)], math.inf if high == len(edges) else edges[high]
