"""Charts of an audit, as Altair specifications: the report draws them, and so may a web page.

Groups differ by symbol or panel as well as by colour (Okabe and Ito's palette), so that a chart can
be read in black and white. Every chart carries a description for those who cannot see it.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

import altair as alt
import vl_convert

from auditor_client.errors import InputError
from auditor_client.fairness.bin_intervals import Share, measured_gaps
from auditor_client.fairness.gap import FairnessGap
from auditor_client.kinds.score_histogram.result import FinishedAudit

WIDTH = 640
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
SHAPES = ["circle", "triangle-up", "square", "diamond"]
# Up to so many bins and groups, groups stand side by side in one panel.
FEW_BINS = 30
FEW_GROUPS = len(COLOURS)

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def share_chart(audit: FinishedAudit, found: Sequence[Share]) -> Chart:
    """Noisy shares per bin and group with their limits: in one panel, or in one for each group."""
    names = list(audit.counts)
    words = f"Noisy shares of {', '.join(names)} per bin of scores, with 95 % limits."
    few = len(_spans(audit)) <= FEW_BINS and len(names) <= FEW_GROUPS
    chart = _side_by_side(audit, found) if few else _panels(audit, found)
    return finish(chart, words)


def _side_by_side(audit: FinishedAudit, found: Sequence[Share]) -> Any:
    """Points with whiskers, those of one bin next to each other."""
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


def _panels(audit: FinishedAudit, found: Sequence[Share]) -> Any:
    """A line in a band of limits, one panel per group on the same axes."""
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


def gap_chart(audit: FinishedAudit, found: Sequence[Share], alpha: float) -> Chart:
    """The measured gap of each bin beside the gap that is tolerated."""
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
    words = f"Measured gap between groups per bin of scores; {alpha:g} is tolerated."
    return finish(layers.properties(width=WIDTH, height=160), words)


def verdict_chart(gap: FairnessGap, alpha: float) -> Chart:
    """The interval of the gap against the gap that is tolerated."""
    base = chart_of([{"low": gap.low, "high": gap.high, "efg": gap.efg, "alpha": alpha}])
    top = min(1.0, max(gap.high, gap.efg, alpha) * 1.15)
    x = alt.X("low:Q", title="fairness gap", scale=alt.Scale(domain=[0, top]))
    interval = base.mark_rule(strokeWidth=7, color="#777777").encode(x=x, x2="high:Q")
    point = base.mark_point(filled=True, size=130, color="black", shape="diamond").encode(x="efg:Q")
    line = base.mark_rule(strokeDash=[5, 3], strokeWidth=2, color="black").encode(x="alpha:Q")
    label = base.mark_text(dy=-32, align="left", dx=4, fontSize=12).encode(
        x="alpha:Q", text=alt.value(f"tolerated: {alpha:g}")
    )
    # Written away from the line of what is tolerated.
    side: Literal["left", "right"] = "right" if top / 4 < gap.efg < alpha else "left"
    measured = base.mark_text(dy=20, fontSize=12, align=side).encode(
        x="efg:Q", text=alt.value(f"measured: {gap.efg:.3f}")
    )
    words = (
        f"The gap lies between {gap.low:.3f} and {gap.high:.3f}; measured {gap.efg:.3f};"
        f" {alpha:g} is tolerated."
    )
    layers = alt.layer(interval, line, point, label, measured)
    return finish(layers.properties(width=WIDTH, height=80), words)


def svg(chart: Chart) -> str:
    """The chart as an SVG that needs neither network nor script."""
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def save(chart: Chart, path: str | Path) -> Path:
    """Write the chart as SVG, PNG or HTML, as the name of the file ends; none needs a network."""
    path, spec = Path(path), chart.to_dict()
    match path.suffix:
        case ".svg":
            words = quoteattr(spec["description"])
            said = svg(chart).replace("<svg ", f'<svg role="img" aria-label={words} ', 1)
            path.write_text(said, encoding="utf-8")
        case ".png":
            path.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
        case ".html":
            page = vl_convert.vegalite_to_html(spec, bundle=True, renderer="svg")
            path.write_text(page, encoding="utf-8")
        case other:
            raise InputError(f"A chart is an .svg, .png or .html file, not {other or path.name!r}.")
    return path


def chart_of(rows: list[dict[str, Any]]) -> alt.Chart:
    """A chart of these rows, to be given marks."""
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def _tolerated(alpha: float, scale: alt.Scale) -> Any:
    data = chart_of([{"alpha": alpha}])
    rule = data.mark_rule(strokeDash=[5, 3], strokeWidth=2, color="black").encode(
        y=alt.Y("alpha:Q", scale=scale)
    )
    text = data.mark_text(align="right", dy=-9, fontSize=12).encode(
        x=alt.value(WIDTH), y="alpha:Q", text=alt.value(f"tolerated: {alpha:g}")
    )
    return alt.layer(rule, text)


def _rows(audit: FinishedAudit, found: Sequence[Share]) -> list[dict[str, Any]]:
    """A point per share, moved aside within its bin by group."""
    spans, names = _spans(audit), list(audit.counts)
    rows = []
    for share in found:
        if share.bin < len(spans):  # the bin `outside` has no place on the axis
            low, high = spans[share.bin]
            aside = (names.index(share.group) + 1) / (len(names) + 1)
            rows.append({**_limits(share), "x": low + (high - low) * aside})
    return rows


def _outlines(audit: FinishedAudit, found: Sequence[Share]) -> list[dict[str, Any]]:
    """The corners of each group's steps: each bin, and the end of the last one once more."""
    spans = _spans(audit)
    rows = []
    for share in found:
        if share.bin < len(spans):
            rows.append({**_limits(share), "x": spans[share.bin][0]})
        if share.bin == len(spans) - 1:
            rows.append({**_limits(share), "x": spans[share.bin][1]})
    return rows


def _limits(share: Share) -> dict[str, Any]:
    return {"group": share.group, "share": share.share, "low": share.low, "high": share.high}


def _spans(audit: FinishedAudit) -> list[tuple[float, float]]:
    """Where each bin lies on the axis; a level gets room up to the next one."""
    limits = audit.limits()
    if all(low < high for low, high in limits):
        return limits
    levels = [low for low, _ in limits]
    steps = [right - left for left, right in pairwise(levels)] or [1.0]
    half = min(steps) / 2
    return [(level - half, level + half) for level in levels]


def _axis(audit: FinishedAudit) -> alt.X:
    spans = _spans(audit)
    domain = [spans[0][0], spans[-1][1]]
    return alt.X("x:Q", title="relevance score", scale=alt.Scale(domain=domain, nice=False))


def _share(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title="share of the group", axis=alt.Axis(format=".0%"))


def finish(chart: Any, description: str) -> Chart:
    """The chart in the style of all of them, with words for those who cannot see it."""
    done: Chart = (
        chart.properties(description=description)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e4e4e4")
        .configure_legend(orient="top", title=None, labelFontSize=13, symbolSize=90)
    )
    return done
