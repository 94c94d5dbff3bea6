"""Charts of `replications.paper_4.figures`."""

from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, SHAPES, chart_of, finish
from auditor_client.reo.charts import difference_chart

_PANEL = {"width": 230, "height": 200}
_METHODS = ("ours", "Algorithm 1", "bootstrap", "BCa")


def charts(drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the charts by file name."""
    return {
        "paper-4-sizes.svg": _sizes(drawn["3"], drawn["4"]),
        "paper-4-intervals.svg": _intervals(drawn["7"]),
        "paper-4-boosting.svg": difference_chart(drawn["9"]),
    }


def _sizes(three: list[dict[str, Any]], parts: list[dict[str, Any]]) -> Any:
    cases = [row for row in three if row["kept"]]
    left = _log_panel(cases, "mse", "mean squared error (Figure 3)", by="case")
    middle = _log_panel(parts, "relative error", "relative error (Figure 4)")
    right = _log_panel(parts, "variance", "variance (Figure 5)")
    words = (
        "How the error of the penalty falls with the number of rows: the mean squared error in the"
        " paper's three synthetic cases, and relative error and variance on parts of one day of a"
        " simulated log. All fall like one over the number of rows."
    )
    return finish(alt.hconcat(left, middle, right), words)


def _log_panel(rows: list[dict[str, Any]], field: str, title: str, by: str | None = None) -> Any:
    values = [{"n": row["n"], "y": row[field], "case": row.get("case", "")} for row in rows]
    axis = alt.Axis(format="~e", tickCount=4)
    base = chart_of(values).encode(
        x=alt.X("n:Q", title="rows", scale=alt.Scale(type="log", nice=False), axis=axis),
        y=alt.Y("y:Q", title=title, scale=alt.Scale(type="log"), axis=axis),
    )
    if by:
        names = sorted({row["case"] for row in values})
        base = base.encode(
            color=alt.Color(f"{by}:N", scale=alt.Scale(domain=names, range=COLOURS[: len(names)])),
            shape=alt.Shape(f"{by}:N", scale=alt.Scale(domain=names, range=SHAPES[: len(names)])),
        )
    return (base.mark_line() + base.mark_point(filled=True, size=45)).properties(**_PANEL)


def _intervals(days: list[dict[str, Any]]) -> Any:
    rows = [
        {"day": row["day"], "method": name, "low": row[name][0], "high": row[name][1],
         "penalty": row["penalty"]}
        for row in days
        for name in _METHODS
    ]  # fmt: skip
    colour = alt.Color("method:N", scale=alt.Scale(domain=_METHODS, range=COLOURS))
    dashes = alt.Scale(domain=_METHODS, range=[[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]])
    whiskers = (
        chart_of(rows)
        .mark_rule(strokeWidth=2)
        .encode(
            x=alt.X("day:N", title=None),
            xOffset=alt.XOffset("method:N", sort=_METHODS),
            y=alt.Y("low:Q", title="penalty, 95 % interval (Figure 7)"),
            y2="high:Q",
            color=colour,
            strokeDash=alt.StrokeDash("method:N", scale=dashes),
        )
    )
    bars = (
        chart_of([{"day": row["day"], "bias": row["bias"]} for row in days])
        .mark_bar(color="#555555")
        .encode(
            x=alt.X("day:N", title=None),
            y=alt.Y("bias:Q", title="bias (Figure 8)", axis=alt.Axis(format="+.1%")),
        )
    )
    words = (
        f"The penalty of {len(days)} days: intervals by our method, Algorithm 1, the bootstrap and"
        " BCa, which nearly agree; below, the bias that the bootstrap sees, a small share."
    )
    both = alt.vconcat(
        whiskers.properties(width=700, height=240), bars.properties(width=700, height=110)
    )
    return finish(both, words)
