"""Charts of counts that several kinds share: numbers with intervals, and counts per bin.

Groups differ by shape or dash as well as by colour, so that a chart can be read in black and white.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, FEW_GROUPS, SHAPES, WIDTH, Chart, chart_of, finish

_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]

# Width of a letter of an axis label, in pixels.
_LETTER = 6.5

# A number with its confidence limits.
Limited = tuple[float, float, float]


def limits_chart(
    found: Mapping[str, Limited],
    title: str,
    words: str,
    span: tuple[float, float] | None = None,
    names: Sequence[str] = (),
) -> Chart:
    """Return a chart of one number with its limits per name, on an axis that covers at least
    `span`. A number that is undefined has limits only; one of `names` without limits has no mark.
    """
    rows = [
        {"name": name, "value": value if math.isfinite(value) else None, "low": low, "high": high}
        for name, (value, low, high) in found.items()
    ]
    ends = [*(span or ()), *(row[end] for row in rows for end in ("low", "high"))]
    scale = alt.Scale(domain=[min(ends), max(ends)]) if ends else alt.Undefined
    order = list(names) or list(found)
    base = chart_of(rows).encode(
        y=alt.Y("name:N", title=None, sort=order, scale=alt.Scale(domain=order))
    )
    whisker = base.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(
        x=alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(tickCount=8)), x2="high:Q"
    )
    point = base.mark_point(filled=True, size=70, opacity=1, color=COLOURS[0])
    layers = whisker + point.encode(x="value:Q")
    return finish(layers.properties(width=WIDTH - 120, height=34 * len(order) + 20), words)


def keep_finite(found: Mapping[str, Limited]) -> dict[str, Limited]:
    """Return the numbers that can be drawn: those with finite limits."""
    return {name: each for name, each in found.items() if all(map(math.isfinite, each[1:]))}


def binned_chart(rows: list[dict[str, Any]], error: float, title: str, words: str) -> Chart:
    """Return a chart of the counts of each group in each bin (`group`, `bin`, `count`), all with
    the same error.
    """
    names = list(dict.fromkeys(row["group"] for row in rows))
    bins = list(dict.fromkeys(row["bin"] for row in rows))
    told = [{**row, "low": row["count"] - error, "high": row["count"] + error} for row in rows]
    base = chart_of(told).encode(
        x=alt.X("bin:O", title=title, sort=None, axis=axis_of_bins(bins)),
        xOffset=alt.XOffset("group:N", sort=names),
        **{name: mark for name, mark in group_marks(names).items() if name == "color"},
    )
    whisker = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title="people"), y2="high:Q")
    point = base.mark_point(filled=True, size=55, opacity=1).encode(y="count:Q")
    if len(names) <= FEW_GROUPS:
        shapes = alt.Scale(domain=names, range=SHAPES[: len(names)])
        point = point.encode(shape=alt.Shape("group:N", scale=shapes))
    return finish((whisker + point).properties(width=WIDTH, height=260), words)


def axis_of_bins(names: list[str]) -> alt.Axis:
    """Return an axis whose labels are slanted where they would overlap."""
    fits = len(names) * (max(map(len, names), default=0) + 1) * _LETTER <= WIDTH
    return alt.Axis(labelAngle=0 if fits else -45)


def group_marks(names: list[str]) -> dict[str, Any]:
    """Return colour and dash of each group; colour alone (Vega's own) for many groups."""
    if len(names) > FEW_GROUPS:
        return {"color": alt.Color("group:N", sort=names)}
    few = len(names)
    dashes = alt.Scale(domain=names, range=_DASHES[:few])
    return {
        "color": alt.Color("group:N", scale=alt.Scale(domain=names, range=COLOURS[:few])),
        "strokeDash": alt.StrokeDash("group:N", scale=dashes),
    }
