"""The metric of a request, from the numbers that it declares: the same on both sides.

In the service rows are of one person each: whoever else a row is about is not covered by it
(docs/logs.md), and one person moves nobody else's rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from privacy.values.capping import Caps
from privacy.values.layout import Layout
from privacy.values.rates import Bins, FalsePositives, Outcomes
from privacy.values.scores import Kernels, ScoreBins

Metric = Bins | FalsePositives | Outcomes | ScoreBins | Kernels
Asked = Mapping[str, Any]


def metric_of(asked: Asked) -> Metric:
    """The metric of this name with these numbers; `BoundsError` if they cannot be."""
    return _MAKERS[asked["name"]](asked)


def layout_of(metric: Metric) -> Layout:
    """The cells of a metric in the service, and how far one person moves them."""
    return replace(metric.layout, moved_rows=0)


def events_of(asked: Asked) -> int:
    """The most rows of a person."""
    return int(asked.get("rows_per_person", 1))


def _histogram(asked: Asked) -> Bins:
    return Bins(tuple(asked["bins"]["edges"]))


def _false_positives(asked: Asked) -> FalsePositives:
    return FalsePositives(events_of(asked))


def _outcomes(asked: Asked) -> Outcomes:
    events, squares = events_of(asked), bool(asked["squares"])
    return Outcomes(**asked["outcome_range"], events=events, squares=squares)


def _auc(asked: Asked) -> ScoreBins:
    return ScoreBins(tuple(asked["edges"]), events_of(asked))


def _pot(asked: Asked) -> Kernels:
    points, caps = tuple(asked["points"]), Caps(candidate=events_of(asked))
    return Kernels(points, asked["bandwidth"], **asked["outcome_range"], caps=caps)


_MAKERS: dict[str, Callable[[Asked], Metric]] = {
    "score-histogram": _histogram,
    "false-positives": _false_positives,
    "outcomes": _outcomes,
    "auc": _auc,
    "pot": _pot,
}
