"""Page of Prometheus metrics, from the collectors of `api.telemetry.metrics`."""

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase

from api.telemetry import metrics
from docs.site.reference.tables import table

_TYPES = {Counter: "counter", Gauge: "gauge", Histogram: "histogram"}


def page() -> str:
    """Return the page."""
    found = [each for each in vars(metrics).values() if isinstance(each, MetricWrapperBase)]
    return "\n".join(
        (
            "# Metrics",
            "",
            "Each process serves its metrics to the operator at `metrics_host:metrics_port`"
            " (see [Settings](settings.md)). Auditors never see them.",
            *table(("metric", "type", "labels", "meaning"), sorted(map(_row, found))),
        )
    )


def _row(metric: MetricWrapperBase) -> tuple[str, str, str, str]:
    [described] = metric.describe()
    labels = ", ".join(f"`{name}`" for name in metric._labelnames)
    name = f"{described.name}_total" if isinstance(metric, Counter) else described.name
    return f"`{name}`", _TYPES[type(metric)], labels, described.documentation
