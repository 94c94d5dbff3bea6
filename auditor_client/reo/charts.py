"""Charts of equal opportunity: days with the four-fifths line, and changes of the penalty.

Points differ by shape as well as by colour, so that a chart can be read in black and white.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, SHAPES, WIDTH, Chart, chart_of, finish
from auditor_client.reo.ab_differences import PenaltyDifference
from auditor_client.reo.monitoring import Monitoring

_STATES = ("below", "unclear", "above")
_LABELS = {"below": "certainly below the line", "unclear": "unclear", "above": "certainly above"}


def monitoring_chart(found: Monitoring) -> Chart:
    """Return the penalty of each day with its limits, and the line of the four-fifths rule."""
    rows = [
        {"day": day, "penalty": one.penalty, "low": one.low, "high": one.high}
        | {"state": _LABELS[found.state(day)]}
        for day, one in found.days.items()
    ]
    layers = _whiskers(rows, "penalty", "state", [_LABELS[state] for state in _STATES])
    for value, words in _lines(found):
        layers = layers + _line(value, words)
    above = [day for day in found.days if found.state(day) == "above"]
    words = (
        f"The penalty of equal opportunity on {len(rows)} days with limits that hold for "
        f"all at once with {1 - found.delta:.0%} confidence, and the line of the "
        f"four-fifths rule at {found.lines.broken:.1%}. Certainly above it: "
        f"{', '.join(above) or 'no day'}."
    )
    return finish(layers.properties(width=WIDTH, height=280), words)


def difference_chart(found: Mapping[str, Mapping[str, PenaltyDifference]]) -> Chart:
    """Return a chart of the penalty's changes by day for several strategies, each with a shape and
    colour.
    """
    rows = [
        {"day": day, "difference": one.difference, "low": one.low, "high": one.high}
        | {"strategy": strategy}
        for strategy, days in found.items()
        for day, one in days.items()
    ]
    layers = _whiskers(rows, "difference", "strategy", list(found)) + _line(0.0, "")
    words = (
        f"Change of the penalty of equal opportunity by {', '.join(found)}, by day, with limits."
    )
    return finish(layers.properties(width=WIDTH, height=280), words)


def _whiskers(rows: list[dict[str, Any]], value: str, by: str, names: list[str]) -> Any:
    few = len(names)
    colour = alt.Color(f"{by}:N", scale=alt.Scale(domain=names, range=COLOURS[:few]))
    shape = alt.Shape(f"{by}:N", scale=alt.Scale(domain=names, range=SHAPES[:few]))
    base = chart_of(rows).encode(x=alt.X("day:N", title=None, sort=None))
    axis = alt.Y("low:Q", title=f"{value} of the penalty" if value == "difference" else value)
    whisker = base.mark_rule(strokeWidth=1.5).encode(y=axis, y2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=65, opacity=1)
    return whisker + point.encode(y=f"{value}:Q", color=colour, shape=shape)


def _lines(found: Monitoring) -> list[tuple[float, str]]:
    """Return one line for two groups; for more, also the line below which the rule holds."""
    lines = [(found.lines.broken, f"{found.lines.broken:.1%}")]
    if found.lines.holds < found.lines.broken - 1e-12:
        lines.append((found.lines.holds, f"{found.lines.holds:.1%}"))
    return lines


def _line(value: float, words: str) -> Any:
    base = chart_of([{"line": value, "words": words}])
    rule = base.mark_rule(strokeDash=[6, 4], color="black").encode(y="line:Q")
    text = base.mark_text(align="right", baseline="bottom", dx=-4, dy=-3, fontSize=12)
    return rule + text.encode(y="line:Q", x=alt.value(WIDTH), text="words:N")
