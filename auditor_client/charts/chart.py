"""Parts shared by all charts, as Altair specifications for reports and web pages.

Groups differ by symbol or panel as well as by colour (Okabe and Ito's palette), so that a chart can
be read in black and white. Every chart has a text description for readers who cannot see it.
"""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import altair as alt
import vl_convert

from auditor_client.errors import InputError

WIDTH = 640
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]
SHAPES = ["circle", "triangle-up", "square", "diamond"]
# Number of groups that colours and shapes distinguish.
FEW_GROUPS = len(COLOURS)

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


def svg(chart: Chart) -> str:
    """Return the chart as an SVG without scripts or external files."""
    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def save(chart: Chart, path: str | Path) -> Path:
    """Write the chart as SVG, PNG or HTML, chosen by the file's suffix; no format needs a
    network.
    """
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
            raise InputError(
                f"A chart is written to an .svg, .png or .html file, not {other or path.name!r}.",
                case="chart-format",
            )
    return path


def chart_of(rows: list[dict[str, Any]]) -> alt.Chart:
    """Return a chart of these rows, without marks."""
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def finish(chart: Any, description: str) -> Chart:
    """Return the chart in the common style, with a description for readers who cannot see it."""
    done: Chart = (
        chart.properties(description=description)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e4e4e4")
        .configure_legend(orient="top", title=None, labelFontSize=13, symbolSize=90)
    )
    return done
