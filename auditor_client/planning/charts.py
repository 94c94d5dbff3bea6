"""Charts of planning: curves of power.

Lines differ by dash and symbol as well as by colour, so that a reader can distinguish them in black
and white.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from auditor_client.charts.chart import COLOURS, SHAPES, chart_of, finish
from auditor_client.planning.inverse import power_at
from auditor_client.planning.power_simulation import SizeKind
from auditor_client.stats.noise import Epsilon

_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]


def line_marks(names: Sequence[str]) -> dict[str, Any]:
    """Return colour, shape and dash of each line, by name."""
    few = len(names)
    return {
        "color": alt.Color("by:N", scale=alt.Scale(domain=names, range=COLOURS[:few])),
        "shape": alt.Shape("by:N", scale=alt.Scale(domain=names, range=SHAPES[:few])),
        "strokeDash": alt.StrokeDash("by:N", scale=alt.Scale(domain=names, range=_DASHES[:few])),
    }


def power_curve(
    people: Sequence[int],
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    sizes: SizeKind = "known",
    power: float = 0.8,
) -> Any:
    """Chart each verdict's probability by number of people, at a gap of 0 and at one of 2·alpha."""
    given = (alpha, delta, groups, bins, epsilon, sizes)
    far = min(2 * alpha, 1.0)
    fair, unfair = "fair, if there is no gap", f"unfair, if the gap is {far:g}"
    rows = [
        row
        for n in people
        for row in (
            {"value": n, "by": fair, "y": power_at(n, 0.0, *given).fair},
            {"value": n, "by": unfair, "y": power_at(n, far, *given).unfair},
        )
    ]
    base = chart_of(rows).encode(
        x=alt.X("value:Q", title="people per group", scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("y:Q", title="probability of the verdict", scale=alt.Scale(domain=[0, 1])),
        **line_marks([fair, unfair]),
    )
    wanted = chart_of([{"power": power}]).mark_rule(strokeDash=[5, 3], color="black")
    layers = base.mark_line() + base.mark_point(filled=True, size=45) + wanted.encode(y="power:Q")
    words = (
        f"The probability that an audit at alpha = {alpha:g} calls a fair platform fair, and one"
        f" with a gap of {far:g} unfair, from {min(people)} to {max(people)} people per group."
    )
    return finish(layers.properties(width=520, height=280), words)
