"""Counters of one process, in a form in which those of several processes can be added."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from prometheus_client.metrics import MetricWrapperBase
from pydantic import BaseModel, ConfigDict

from api.telemetry.metrics import (
    ADAPTER_CALLS,
    ADAPTER_FAILURES,
    AUDITS,
    ENDS,
    IN_PROGRESS,
    LATE_AUDITS,
    LATE_PARTS,
    LATENCY,
    LEFT_OUT,
    MENDED_REWARDS,
    REQUESTS,
    SHED,
    STEPS,
)

# Streams last as long as somebody listens, so their time means nothing.
_STREAMS = "/events"


class RequestCounts(BaseModel):
    """Requests: their number, refused (4xx), failed (5xx), and the number within each of `ENDS`."""

    model_config = ConfigDict(frozen=True)

    requests: int = 0
    refused: int = 0
    failed: int = 0
    timed: tuple[int, ...] = (0,) * len(ENDS)

    def __add__(self, other: "RequestCounts") -> "RequestCounts":
        return self._with(other, 1)

    def __sub__(self, other: "RequestCounts") -> "RequestCounts":
        return self._with(other, -1)

    def _with(self, other: "RequestCounts", sign: int) -> "RequestCounts":
        return RequestCounts(
            requests=self.requests + sign * other.requests,
            refused=self.refused + sign * other.refused,
            failed=self.failed + sign * other.failed,
            timed=tuple(a + sign * b for a, b in zip(self.timed, other.timed, strict=True)),
        )

    def within(self, share: float) -> float | None:
        """Return the first of `ENDS` within which this share of requests was answered."""
        most = self.timed[-1]
        if not most:
            return None
        ends = zip(ENDS, self.timed, strict=True)
        return next(end for end, up_to in ends if up_to >= share * most)


class Figures(BaseModel):
    """Figures of a process: `routes` of the last minutes, everything else since it started."""

    model_config = ConfigDict(frozen=True)

    total: RequestCounts = RequestCounts()
    routes: dict[str, RequestCounts] = {}
    audits: dict[str, int] = {}
    steps: int = 0
    mended: int = 0
    left_out: int = 0
    late: int = 0
    # Requests in progress when the figures were written.
    in_progress: int = 0
    shed: int = 0
    adapter_calls: int = 0
    adapter_failures: int = 0


def list_routes() -> dict[str, RequestCounts]:
    """Return the counts of every requested route, since this process started."""
    numbers: dict[str, dict[str, Any]] = defaultdict(lambda: defaultdict(int))
    for labels, count in _counted(REQUESTS):
        found = numbers[_name(labels)]
        found["requests"] += count
        found[{"4": "refused", "5": "failed"}.get(labels["status"][0], "served")] += count
    timed: dict[str, dict[float, int]] = defaultdict(dict)
    for labels, count in _counted(LATENCY, "_bucket"):
        if not labels["route"].endswith(_STREAMS):
            timed[_name(labels)][float(labels["le"])] = count
    return {
        name: RequestCounts(
            requests=found["requests"],
            refused=found["refused"],
            failed=found["failed"],
            timed=tuple(timed[name].get(end, 0) for end in ENDS),
        )
        for name, found in numbers.items()
    }


def compute_figures(now: dict[str, RequestCounts], before: dict[str, RequestCounts]) -> Figures:
    """Return the figures, from the counts now and some minutes ago."""
    recent = {name: each - before.get(name, RequestCounts()) for name, each in now.items()}
    return Figures(
        total=sum_traffic(now.values()),
        routes={name: each for name, each in recent.items() if each.requests},
        audits={labels["state"]: count for labels, count in _counted(AUDITS)},
        steps=_sum(STEPS),
        mended=_sum(MENDED_REWARDS),
        left_out=_sum(LEFT_OUT),
        late=_sum(LATE_PARTS) + _sum(LATE_AUDITS),
        in_progress=_sum(IN_PROGRESS, "requests_in_progress"),
        shed=_sum(SHED),
        adapter_calls=_sum(ADAPTER_CALLS),
        adapter_failures=_sum(ADAPTER_FAILURES),
    )


def sum_traffic(traffic: Iterable[RequestCounts]) -> RequestCounts:
    return sum(traffic, start=RequestCounts())


def _name(labels: dict[str, str]) -> str:
    return f"{labels['method']} {labels['route']}"


def _sum(metric: MetricWrapperBase, suffix: str = "_total") -> int:
    return sum(count for _, count in _counted(metric, suffix))


def _counted(metric: MetricWrapperBase, suffix: str = "_total") -> list[tuple[dict[str, str], int]]:
    """Return labels and numbers of a metric of this process."""
    return [
        (sample.labels, int(sample.value))
        for family in metric.collect()
        for sample in family.samples
        if sample.name.endswith(suffix)
    ]
