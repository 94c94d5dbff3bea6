"""Options that select metrics, the same for every command that reports them."""

from typing import Annotated, cast

import typer

from auditor_client.fairness.metric_selection import METRICS, Metric, MetricSelection

Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", help=f"Only this one, repeatable: {', '.join(METRICS)}."),
]
Thresholds = Annotated[
    list[float] | None,
    typer.Option("--threshold", help="An end of bins: who scores so or above; repeatable."),
]
Quantiles = Annotated[
    list[float] | None, typer.Option("--quantile", help="0.5 unless told, repeatable.")
]
Qualified = Annotated[
    str | None, typer.Option(help="The value of the last crossed column that says qualified.")
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
