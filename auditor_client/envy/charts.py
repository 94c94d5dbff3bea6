"""Charts of audits of envy: confidence tubes per arm, and the effect of alpha on steps and cost.

Lines differ by dash as well as by colour, so that a chart can be read in black and white.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, WIDTH, Chart, chart_of, finish
from auditor_client.envy.forecast_path import EnvyTerms
from auditor_client.envy.forecasts import forecast
from auditor_client.errors import InputError

_TUBE = ("arm", "step", "mean", "low", "high")
_DASHES = [[1, 0], [6, 4], [2, 2], [8, 3, 2, 3]]
ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def tube_chart(frame: Any) -> Chart:
    """Return a chart of each arm's mean and limits against steps, of a simulated run; arm 0 is
    one's own.

    `frame` is a pandas, Polars or Arrow table, or rows, with arm, step, mean, low and high. Real
    rewards are private: no release contains them.
    """
    rows = _rows(frame)
    own = [row | {"which": "their own"} for row in rows if str(row["arm"]) == "0"]
    others = [row | {"which": f"arm {row['arm']}"} for row in rows if str(row["arm"]) != "0"]
    if not own or not others:
        raise InputError(
            "A tube chart needs arm 0, one's own, and at least one other arm.", case="few-arms"
        )
    steps, axis = alt.Scale(type="log", nice=False), alt.Axis(tickCount=3, format="~s")
    x = alt.X("step:Q", title="step", scale=steps, axis=axis)
    y = alt.Y("low:Q", title="mean reward", scale=alt.Scale(domain=[0, 1], clamp=True))
    header = alt.Header(labelFontSize=12, labelFontWeight="bold")
    panels = sorted({row["which"] for row in others}, key=lambda word: (len(word), word))
    both = [{**row, "panel": panel} for panel in panels for row in own]
    both += [{**row, "panel": row["which"]} for row in others]
    who = alt.condition("datum.which == 'their own'", alt.value("#666666"), alt.value(COLOURS[0]))
    base = chart_of(both).encode(x=x)
    band = base.mark_area(opacity=0.3).encode(y=y, y2="high:Q", fill=who, detail="which:N")
    dash = alt.condition("datum.which == 'their own'", alt.value([5, 3]), alt.value([1, 0]))
    line = base.mark_line(strokeWidth=1.5).encode(
        y="mean:Q", stroke=who, strokeDash=dash, detail="which:N"
    )
    panel = alt.Facet("panel:N", title=None, header=header, sort=panels)
    words = (
        f"Limits of the mean reward of {len(panels)} arms, each compared with one's own "
        "recommendations (dashed, grey), against steps. Envy is visible where a tube "
        "rises above the grey one."
    )
    layers = (band + line).properties(width=WIDTH / 3.5, height=120)
    return finish(layers.facet(facet=panel, columns=3), words)


def forecast_over_alphas(
    means: Sequence[float], terms: EnvyTerms, alphas: Iterable[float] = ALPHAS
) -> list[dict[str, Any]]:
    """Return expected steps and cost for several alphas, by both bounds, for `alpha_chart`."""
    rows = []
    for bounds in ("printed", "tight"):
        for alpha in alphas:
            found = forecast(means, replace(terms, alpha=alpha, bounds=bounds))
            rows.append(
                {"alpha": alpha, "bounds": bounds}
                | {"steps": float(found.steps[0]), "cost": float(found.costs[0])}
            )
    return rows


def alpha_chart(frame: Any, by: str = "bounds") -> Chart:
    """Return a chart of duration and cost against alpha, with a line for each value of the column
    `by`.
    """
    rows = _rows(frame, ("alpha", by, "steps", "cost"))
    names = list(dict.fromkeys(str(row[by]) for row in rows))
    if len(names) > len(COLOURS):
        raise InputError(
            f"A chart shows at most {len(COLOURS)} lines, not {len(names)}.", case="too-many-lines"
        )
    few = len(names)
    base = (
        chart_of(rows)
        .mark_line(point=True)
        .encode(
            x=alt.X("alpha:Q", title="alpha: the share of reward that people may lose"),
            color=alt.Color(f"{by}:N", scale=alt.Scale(domain=names, range=COLOURS[:few])),
            strokeDash=alt.StrokeDash(
                f"{by}:N", scale=alt.Scale(domain=names, range=_DASHES[:few])
            ),
        )
        .properties(width=WIDTH / 2.4, height=220)
    )
    steps = base.encode(y=alt.Y("steps:Q", title="steps", scale=alt.Scale(type="log")))
    cost = base.encode(y=alt.Y("cost:Q", title="reward lost"))
    words = f"Steps and reward lost against alpha, for {' and '.join(names)}."
    return finish(alt.hconcat(steps, cost), words)


def _rows(frame: Any, wanted: Sequence[str] = _TUBE) -> list[dict[str, Any]]:
    """Return the rows of a table of any library, or given rows unchanged."""
    if isinstance(frame, list):
        rows = frame
    else:
        import narwhals as nw

        rows = list(nw.from_native(frame).iter_rows(named=True))
    if not rows or not set(wanted) <= set(rows[0]):
        raise InputError(
            f"The table needs rows, and the columns {', '.join(wanted)}.", case="no-rows-or-columns"
        )
    return [{name: row[name] for name in wanted} for row in rows]
