"""`auditor reo`: equal opportunity from your own logs, without network or profile."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from auditor_client.cli.options import AsJson, words
from auditor_client.cli.output import show_row
from auditor_client.errors import InputError

LogFile = Annotated[Path, typer.Option("--default", help="Default traffic: Parquet or CSV.")]
RandomFile = Annotated[
    Path | None,
    typer.Option("--random", help="Random traffic, which the test needs."),
]
Labels = Annotated[
    str, typer.Option("--label", help="Signals whose union is the label: like,share.")
]
Group = Annotated[str, typer.Option(help="The column of the creator's group.")]
Viewer = Annotated[
    str | None, typer.Option(help="The column of viewers, whose rows are not independent.")
]
Day = Annotated[str | None, typer.Option(help="The column of days: each gets a penalty.")]
Delta = Annotated[
    float, typer.Option(help="The probability that an interval misses the true value.")
]


def reo(
    default: LogFile,
    label: Labels,
    group: Group,
    random: RandomFile = None,
    viewer: Viewer = None,
    day: Day = None,
    treatment: Annotated[
        Path | None, typer.Option(help="Traffic of a treatment, for comparison.")
    ] = None,
    recalled: Annotated[
        Path | None, typer.Option(help="Traffic of items that passed recall.")
    ] = None,
    delta: Delta = 0.05,
    chart: Annotated[Path | None, typer.Option(help="SVG file for a chart of the days.")] = None,
    as_json: AsJson = False,
) -> None:
    """Test on your own logs whether relevant content of each group is shown equally often."""
    from auditor_client.reo import own_logs  # SciPy takes a second to import

    if chart and not day:
        raise InputError("A chart shows days. Name their column with --day.")
    labels = words(label) or []
    logs = own_logs(
        default, random, labels, group,
        viewer=viewer, day=day, treatment=treatment, recalled=recalled,
    )  # fmt: skip
    found = logs.penalty(delta)
    row: dict[str, Any] = {
        "penalty": _number(found.penalty),
        "se": _number(found.se),
        "low": found.low,
        "high": found.high,
        "delta": delta,
        "defined": found.defined,
        "relative": {name: _number(value) for name, value in found.relative.items()},
        # Demographic parity would ignore the viewers.
        "parity": None if viewer else logs.parity(delta).penalty,
        "rows": {"default": logs.default.rows, "random": logs.random.rows},
        "positives": {"default": logs.default.positives, "random": logs.random.positives},
        "in_words": found.explain(),
    }
    if treatment:
        change = logs.difference(delta)
        limits = {"low": change.low, "high": change.high}
        row["difference"] = {"value": _number(change.difference), **limits}
        row["change"] = change.explain()
    if recalled:
        stages = logs.stages(delta)
        row["recall"], row["ranking"] = stages.recall.explain(), stages.ranking.explain()
    if day:
        row["days"] = _days(logs.monitor(delta), chart)
    show_row(row, as_json=as_json)


def _number(value: float) -> float | None:
    """Return None for an undefined value, which JSON writes as null."""
    return value if math.isfinite(value) else None


def _days(watched: Any, chart: Path | None) -> list[dict[str, Any]]:
    if chart:
        from auditor_client.charts.chart import svg

        chart.write_text(svg(watched.chart()), encoding="utf-8")
    rows: list[dict[str, Any]] = watched.table().to_pylist()
    return [{**row, "penalty": _number(row["penalty"])} for row in rows]
