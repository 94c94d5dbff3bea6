"""Figures 4 to 7 of the paper: average outcomes, and differences at equal scores, by bin."""

from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, SHAPES, WIDTH, Chart, chart_of, finish
from auditor_client.charts.count_charts import axis_of_bins
from auditor_client.outcome.outcome_test import Tested

_HEIGHT = 260


def marginal_chart(tested: Tested, title: str = "average outcome") -> Chart:
    """Return a chart of each group's average outcome in each bin, with limits [Figures 4 and 6]."""
    rows = [
        {
            "bin": each.bin,
            "group": each.group,
            "value": each.mean,
            "low": each.low,
            "high": each.high,
        }
        for each in tested.marginals
        if each.mean == each.mean
    ]
    words = f"The {title} of {', '.join(tested.moments.groups)} in each bin of scores, with limits."
    return _points(tested, rows, list(tested.moments.groups), title, words)


def effect_chart(tested: Tested) -> Chart:
    """Return a chart of differences from the reference at equal scores, with limits for each alone
    [Figures 5, 7].
    """
    rows = [
        {
            "bin": each.bin,
            "group": each.group,
            "value": each.estimate,
            "low": each.low,
            "high": each.high,
        }
        for each in tested.coefficients()
        if each.defined
    ]
    names = [name for name in tested.moments.groups if name != tested.reference]
    title = f"difference from {tested.reference}"
    words = f"The {title} in outcome at equal scores, in each bin of scores, with limits."
    return _points(tested, rows, names, title, words, zero=True)


def _points(
    tested: Tested,
    rows: list[dict[str, Any]],
    names: list[str],
    title: str,
    words: str,
    zero: bool = False,
) -> Chart:
    """Return points with whiskers; those of one bin stand next to each other.

    A group has the same colour and shape in every chart of a test.
    """
    bins = [f"{low:.3g} to {high:.3g}" for low, high in tested.bins]
    named = [{**row, "bin": bins[row["bin"]]} for row in rows]
    shown = [name for number, name in enumerate(bins) if any(row["bin"] == number for row in rows)]
    marks = [list(tested.moments.groups).index(name) for name in names]
    colours = [COLOURS[mark % len(COLOURS)] for mark in marks]
    shapes = [SHAPES[mark % len(SHAPES)] for mark in marks]
    base = chart_of(named).encode(
        x=alt.X("bin:O", title="scores", sort=shown, axis=axis_of_bins(shown)),
        xOffset=alt.XOffset("group:N", sort=names),
        color=alt.Color("group:N", scale=alt.Scale(domain=names, range=colours)),
    )
    whisker = base.mark_rule(strokeWidth=1.5).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    shape = alt.Shape("group:N", scale=alt.Scale(domain=names, range=shapes))
    point = base.mark_point(filled=True, size=55, opacity=1).encode(y="value:Q", shape=shape)
    layers = whisker + point
    if zero:
        line = chart_of([{"y": 0}]).mark_rule(color="#555555").encode(y="y:Q")
        layers = line + layers
    return finish(layers.properties(width=WIDTH, height=_HEIGHT), words)
