"""Metrics of two-party audits, for `audits.two_party`.

Each metric is a wire model with numbers on which both sides must agree beforehand.
docs/explanation/two-party-metrics.md defines the computation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from auditor_client.kinds.options import id_of
from auditor_client.transport.validation import validate
from openapi.resources import (
    Content,
    Edges,
    Range,
    SoftAuc,
    SoftFalsePositives,
    SoftHistogram,
    SoftLot,
    SoftNdcg,
    SoftOutcomes,
    SoftPot,
)
from privacy.metric_values.from_request import HISTOGRAM

Where = Mapping[str, Sequence[str]]


def histogram(
    content: Content | str, edges: Sequence[float], context: Mapping[str, str | float] | None = None
) -> SoftHistogram:
    """Return the distribution of a content's scores in each group (paper 1, with soft groups)."""
    return validate(
        SoftHistogram,
        name=HISTOGRAM,
        content_id=id_of(content),
        bins=validate(Edges, edges=list(edges)),
        context=dict(context or {}),
    )


def false_positives(log: str, predicted: str, actual: str, **rows: Any) -> SoftFalsePositives:
    """Return the false-positive metric. Values of `predicted` and `actual` above one half count as
    1.

    `rows` are `where=` (columns and their categories) and `rows_per_person=`, as for every metric
    here.
    """
    return validate(
        SoftFalsePositives,
        name="false-positives",
        log=log,
        predicted=predicted,
        actual=actual,
        **rows,
    )


def outcomes(
    log: str,
    outcome: str,
    limits: tuple[float, float],
    *,
    squares: bool = False,
    **rows: Any,
) -> SoftOutcomes:
    """Return the metric of average outcomes; `squares` also measures their spread and costs one
    more cell.
    """
    return validate(
        SoftOutcomes,
        name="outcomes",
        log=log,
        outcome=outcome,
        outcome_range=_range(limits),
        squares=squares,
        **rows,
    )


def auc(log: str, score: str, actual: str, edges: Sequence[float], **rows: Any) -> SoftAuc:
    """Return the AUC metric: how well scores separate rows with and without an outcome, by
    group.
    """
    return validate(
        SoftAuc, name="auc", log=log, score=score, actual=actual, edges=list(edges), **rows
    )


def ndcg(log: str, relevance: str, length: int = 10, **caps: Any) -> SoftNdcg:
    """Return the NDCG metric: the quality of the first positions of each group's lists.

    `caps` are `per_viewer=` and `per_candidate=`, the numbers of a person's lists and of positions
    in lists that count, for sides that are people: see the log's `ranking` in the catalogue.
    """
    return validate(SoftNdcg, name="ndcg", log=log, relevance=relevance, length=length, **caps)


def lot(
    log: str,
    relevance: str,
    limits: tuple[float, float],
    ranks: int = 10,
    side: Literal["above", "below"] = "above",
    **caps: Any,
) -> SoftLot:
    """Return the LOT metric: a group's advantage over its neighbour at each rank, on one side.

    `caps` as for `ndcg`.
    """
    return validate(
        SoftLot,
        name="lot",
        log=log,
        relevance=relevance,
        relevance_range=_range(limits),
        ranks=ranks,
        side=side,
        **caps,
    )


def pot(
    log: str,
    score: str,
    outcome: str,
    limits: tuple[float, float],
    points: Sequence[float],
    bandwidth: float,
    **caps: Any,
) -> SoftPot:
    """Return the POT metric: outcomes of equally scored people, near each reference point of the
    score.

    `caps` as for `ndcg`.
    """
    return validate(
        SoftPot,
        name="pot",
        log=log,
        score=score,
        outcome=outcome,
        outcome_range=_range(limits),
        points=list(points),
        bandwidth=bandwidth,
        **caps,
    )


def _range(limits: tuple[float, float]) -> Range:
    low, high = limits
    return validate(Range, low=low, high=high)
