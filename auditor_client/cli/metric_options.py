"""Options that select metrics, for every command that reports them."""

from typing import Annotated, cast

import typer

from auditor_client.fairness.metric_selection import METRICS, Metric, MetricSelection

Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric", help=f"Report only this metric; repeat for more: {', '.join(METRICS)}."
    ),
]
Thresholds = Annotated[
    list[float] | None,
    typer.Option(
        "--threshold",
        help="An edge of bins: metrics count people who score at least this; repeat for more.",
    ),
]
Quantiles = Annotated[
    list[float] | None, typer.Option("--quantile", help="A quantile (default: 0.5), repeatable.")
]
Qualified = Annotated[
    str | None, typer.Option(help="The value in the last crossed column that means qualified.")
]


def selection_of(
    metric: list[str] | None,
    threshold: list[float] | None,
    quantile: list[float] | None,
    qualified: str | None,
) -> MetricSelection:
    return MetricSelection(
        tuple(cast("Metric", name) for name in metric or ()),
        tuple(threshold or ()),
        tuple(quantile or MetricSelection().quantiles),
        qualified,
    )
