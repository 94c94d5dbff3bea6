"""Metric of a request, from the numbers that it declares, identical on both sides.

Each has a `layout`, and `events`: the number of events that may depend on one event, including
itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

from privacy.metric_values.list_caps import Caps
from privacy.metric_values.rankings import Ndcg, RankGaps
from privacy.metric_values.rates import Bins, FalsePositives, Outcomes
from privacy.metric_values.scores import Kernels, ScoreBins

OfLists = Ndcg | RankGaps | Kernels
Metric = Bins | FalsePositives | Outcomes | ScoreBins | OfLists
Asked = Mapping[str, Any]
# The metric that reads scores and no log.
HISTOGRAM = "score-histogram"


def make_metric(asked: Asked) -> Metric:
    """Return the metric of this name with these numbers; raise `BoundsError` if they are
    invalid.
    """
    return _MAKERS[asked["name"]](asked)


def reads_rows(name: str) -> bool:
    """Return whether a metric reads rows of a log: all do except the histogram of scores."""
    return _MAKERS.get(name) is not _histogram


def _histogram(asked: Asked) -> Bins:
    return Bins(tuple(asked["bins"]["edges"]))


def _false_positives(asked: Asked) -> FalsePositives:
    return FalsePositives(asked["rows_per_person"])


def _outcomes(asked: Asked) -> Outcomes:
    events, squares = asked["rows_per_person"], bool(asked["squares"])
    return Outcomes(**asked["outcome_range"], events=events, squares=squares)


def _auc(asked: Asked) -> ScoreBins:
    return ScoreBins(tuple(asked["edges"]), asked["rows_per_person"])


def _ndcg(asked: Asked) -> Ndcg:
    return Ndcg(Caps(asked["per_viewer"], asked["per_candidate"], asked["length"]))


def _rank_gaps(asked: Asked) -> RankGaps:
    return RankGaps(
        asked["ranks"],
        asked["side"],
        **asked["relevance_range"],
        viewer=asked["per_viewer"],
        candidate=asked["per_candidate"],
    )


def _kernels(asked: Asked) -> Kernels:
    points, caps = tuple(asked["points"]), Caps(asked["per_viewer"], asked["per_candidate"])
    return Kernels(points, asked["bandwidth"], **asked["outcome_range"], caps=caps)


_MAKERS: dict[str, Callable[[Asked], Metric]] = {
    HISTOGRAM: _histogram,
    "false-positives": _false_positives,
    "outcomes": _outcomes,
    "auc": _auc,
    "ndcg": _ndcg,
    "lot": _rank_gaps,
    "pot": _kernels,
}
