"""Selection of metrics to report, with their thresholds and quantiles."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from auditor_client.errors import InputError
from auditor_client.fairness.metrics.mixin import MetricsMixin

if TYPE_CHECKING:
    from auditor_client.fairness.metrics.estimate import Estimate

Metric = Literal[
    "parity",
    "impact-ratio",
    "equal-opportunity",
    "mean-difference",
    "kolmogorov-smirnov",
    "wasserstein",
    "quantile-gap",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
AT_A_THRESHOLD: tuple[Metric, ...] = ("parity", "impact-ratio", "equal-opportunity")

# The metric, its threshold or quantile, and its estimate for one pair of groups.
Found = tuple[Metric, float | None, "Estimate"]


@dataclass(frozen=True)
class MetricSelection:
    """Metrics by name (default: all that the other options allow)."""

    only: tuple[Metric, ...] = ()
    thresholds: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = (0.5,)
    qualified: str | None = None

    def __post_init__(self) -> None:
        if strangers := [name for name in self.only if name not in METRICS]:
            known = ", ".join(METRICS)
            raise InputError(f"There is no metric {strangers[0]!r}. The metrics are: {known}.")
        needy = [name for name in self.only if name in AT_A_THRESHOLD]
        if needy and not self.thresholds:
            raise InputError(
                f"{needy[0]} needs a threshold, which must be an edge of bins, for example 0.5."
            )

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics to compute, in the order of `METRICS`."""
        if self.only:
            return tuple(name for name in METRICS if name in self.only)
        absent = set(AT_A_THRESHOLD) if not self.thresholds else set[str]()
        # On other audiences it would be parity under a stronger name.
        absent |= {"equal-opportunity"} if self.qualified is None else set()
        return tuple(name for name in METRICS if name not in absent)

    def of(self, audit: MetricsMixin, delta: float) -> Iterator[Found]:
        """Yield every metric for every pair of groups; the pairs of one metric share delta."""
        for metric in self.metrics:
            for at in self._points(metric):
                for estimate in _computed(audit, metric, at, delta, self.qualified):
                    yield metric, at, estimate

    def _points(self, metric: Metric) -> tuple[float | None, ...]:
        if metric in AT_A_THRESHOLD:
            return self.thresholds
        return self.quantiles if metric == "quantile-gap" else (None,)


def _computed(
    audit: MetricsMixin, metric: Metric, at: float | None, delta: float, qualified: str | None
) -> "list[Estimate]":
    point = 0.0 if at is None else at
    ways: dict[Metric, Callable[[], list[Estimate]]] = {
        "parity": lambda: audit.parity(point, delta),
        "impact-ratio": lambda: audit.impact_ratio(point, delta),
        "equal-opportunity": lambda: audit.equal_opportunity(point, qualified, delta),
        "mean-difference": lambda: audit.mean_difference(delta),
        "kolmogorov-smirnov": lambda: audit.kolmogorov_smirnov(delta),
        "wasserstein": lambda: audit.wasserstein(delta),
        "quantile-gap": lambda: audit.quantile_gap(point, delta),
    }
    return ways[metric]()
