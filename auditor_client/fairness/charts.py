"""Chart of a fairness gap and its verdict."""

from typing import Literal

import altair as alt

from auditor_client.charts.chart import WIDTH, Chart, chart_of, finish
from auditor_client.fairness.gap import FairnessGap


def verdict_chart(gap: FairnessGap, alpha: float) -> Chart:
    """Return the interval of the gap that the verdict covers, against the gap that is tolerated."""
    title, (low, high, found) = _judged(gap)
    base = chart_of([{"low": low, "high": high, "efg": found, "alpha": alpha}])
    top = min(1.0, max(high, found, alpha) * 1.15)
    x = alt.X("low:Q", title=title, scale=alt.Scale(domain=[0, top]))
    interval = base.mark_rule(strokeWidth=7, color="#777777").encode(x=x, x2="high:Q")
    point = base.mark_point(filled=True, size=130, color="black", shape="diamond").encode(x="efg:Q")
    line = base.mark_rule(strokeDash=[5, 3], strokeWidth=2, color="black").encode(x="alpha:Q")
    label = base.mark_text(dy=-32, align="left", dx=4, fontSize=12).encode(
        x="alpha:Q", text=alt.value(f"tolerated: {alpha:g}")
    )
    # Labels stand on the far side from the line of the tolerated gap.
    side: Literal["left", "right"] = "right" if top / 4 < found < alpha else "left"
    measured = base.mark_text(dy=20, fontSize=12, align=side).encode(
        x="efg:Q", text=alt.value(f"measured: {found:.3f}")
    )
    words = (
        f"The gap lies between {low:.3f} and {high:.3f}; measured {found:.3f};"
        f" {alpha:g} is tolerated."
    )
    layers = alt.layer(interval, line, point, label, measured)
    return finish(layers.properties(width=WIDTH, height=80), words)


def _judged(gap: FairnessGap) -> tuple[str, tuple[float, float, float]]:
    """Return the name of the gap that is judged, with limits and estimate."""
    at = gap.threshold
    if gap.criterion == "bins" or at is None:
        return "fairness gap", (gap.low, gap.high, gap.efg)
    both = max(gap.low, at.low), max(gap.high, at.high), max(gap.efg, at.estimate)
    return "largest gap of a bin or above an edge", both
