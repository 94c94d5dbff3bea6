"""Charts of a score histogram: shares of each bin and group, and measured gaps."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import altair as alt

from auditor_client.charts.chart import (
    COLOURS,
    FEW_GROUPS,
    SHAPES,
    WIDTH,
    Chart,
    chart_of,
    finish,
)
from auditor_client.fairness.bin_intervals import BinShare, measured_gaps, measured_shares
from auditor_client.fairness.charts import verdict_chart
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult

# Largest number of bins with all groups side by side in one panel.
FEW_BINS = 30


def illustrate(audit: ScoreHistogramResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return charts of the gap's interval, shares per bin, and measured gaps."""
    shares = measured_shares(audit.groups())
    gap = audit.fairness_gap(judged.delta)
    return (
        PresentedChart(
            verdict_chart(gap, judged.alpha),
            "The interval of the fairness gap, and the tolerated gap.",
        ),
        PresentedChart(
            share_chart(audit, shares),
            (
                "Shares per bin of scores, with limits that hold for each share alone with "
                "95 % confidence."
            ),
        ),
        PresentedChart(
            gap_chart(audit, shares, judged.alpha),
            "The measured gap of each bin, with noise, which the verdict takes into account.",
        ),
    )


def share_chart(audit: ScoreHistogramResult, found: Sequence[BinShare]) -> Chart:
    """Return a chart of noisy shares per bin and group with limits, in one panel or one per
    group.
    """
    names = list(audit.counts)
    words = f"Noisy shares of {', '.join(names)} per bin of scores, with 95 % limits."
    few = len(_spans(audit)) <= FEW_BINS and len(names) <= FEW_GROUPS
    chart = _side_by_side(audit, found) if few else _panels(audit, found)
    return finish(chart, words)


def _side_by_side(audit: ScoreHistogramResult, found: Sequence[BinShare]) -> Any:
    """Return points with whiskers; those of one bin stand next to each other."""
    names = list(audit.counts)
    rows = _rows(audit, found)
    base = chart_of(rows).encode(x=_axis(audit))
    colour = alt.Color("group:N", scale=alt.Scale(domain=names, range=COLOURS[: len(names)]))
    shape = alt.Shape("group:N", scale=alt.Scale(domain=names, range=SHAPES[: len(names)]))
    whisker = base.mark_rule(strokeWidth=1.5).encode(y=_share("low"), y2="high:Q", color=colour)
    point = base.mark_point(filled=True, size=55, opacity=1).encode(
        y="share:Q", color=colour, shape=shape
    )
    return (whisker + point).properties(width=WIDTH, height=280)


def _panels(audit: ScoreHistogramResult, found: Sequence[BinShare]) -> Any:
    """Return a line in a band of limits, with one panel per group on the same axes."""
    base = chart_of(_outlines(audit, found)).encode(x=_axis(audit))
    band = base.mark_area(opacity=0.35, color="#999999", interpolate="step-after").encode(
        y=_share("low"), y2="high:Q"
    )
    line = base.mark_line(color="black", strokeWidth=1.3, interpolate="step-after").encode(
        y="share:Q"
    )
    header = alt.Header(labelFontSize=13, labelFontWeight="bold", labelOrient="top")
    row = alt.Row("group:N", title=None, header=header, sort=list(audit.counts))
    return (band + line).properties(width=WIDTH, height=130).facet(row=row, spacing=8)


def gap_chart(audit: ScoreHistogramResult, found: Sequence[BinShare], alpha: float) -> Chart:
    """Chart the measured gap of each bin, with the tolerated gap."""
    rows = [
        {"x": low, "x2": high, "gap": gap}
        for (low, high), gap in zip(_spans(audit), measured_gaps(found), strict=False)
    ]
    bars = chart_of(rows).mark_rect(color="#555555", stroke="white", strokeWidth=0.3)
    top = max(alpha, *(row["gap"] for row in rows)) * 1.15
    scale = alt.Scale(domain=[0, top])
    marks = bars.encode(
        x=_axis(audit),
        x2="x2:Q",
        y=alt.Y("gap:Q", title="measured gap", scale=scale),
        y2=alt.datum(0),
    )
    layers = marks + _tolerated(alpha, scale)
    words = f"Measured gap between groups per bin of scores; the tolerated gap is {alpha:g}."
    return finish(layers.properties(width=WIDTH, height=160), words)


def _tolerated(alpha: float, scale: alt.Scale) -> Any:
    data = chart_of([{"alpha": alpha}])
    rule = data.mark_rule(strokeDash=[5, 3], strokeWidth=2, color="black").encode(
        y=alt.Y("alpha:Q", scale=scale)
    )
    text = data.mark_text(align="right", dy=-9, fontSize=12).encode(
        x=alt.value(WIDTH), y="alpha:Q", text=alt.value(f"tolerated: {alpha:g}")
    )
    return alt.layer(rule, text)


def _rows(audit: ScoreHistogramResult, found: Sequence[BinShare]) -> list[dict[str, Any]]:
    """Return a point per share, shifted within its bin by group."""
    spans, names = _spans(audit), list(audit.counts)
    rows = []
    for share in found:
        if share.bin < len(spans):  # the bin `outside` has no place on the axis
            low, high = spans[share.bin]
            aside = (names.index(share.group) + 1) / (len(names) + 1)
            rows.append({**_limits(share), "x": low + (high - low) * aside})
    return rows


def _outlines(audit: ScoreHistogramResult, found: Sequence[BinShare]) -> list[dict[str, Any]]:
    """Return the corners of each group's steps: each bin, and the end of the last bin again."""
    spans = _spans(audit)
    rows = []
    for share in found:
        if share.bin < len(spans):
            rows.append({**_limits(share), "x": spans[share.bin][0]})
        if share.bin == len(spans) - 1:
            rows.append({**_limits(share), "x": spans[share.bin][1]})
    return rows


def _limits(share: BinShare) -> dict[str, Any]:
    return {"group": share.group, "share": share.share, "low": share.low, "high": share.high}


def _spans(audit: ScoreHistogramResult) -> list[tuple[float, float]]:
    """Return each bin's span on the axis; a level's span ends at the next level."""
    limits = audit.limits()
    if all(low < high for low, high in limits):
        return limits
    levels = [low for low, _ in limits]
    steps = [right - left for left, right in pairwise(levels)] or [1.0]
    half = min(steps) / 2
    return [(level - half, level + half) for level in levels]


def _axis(audit: ScoreHistogramResult) -> alt.X:
    spans = _spans(audit)
    domain = [spans[0][0], spans[-1][1]]
    return alt.X("x:Q", title="relevance score", scale=alt.Scale(domain=domain, nice=False))


def _share(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title="share of the group", axis=alt.Axis(format=".0%"))
