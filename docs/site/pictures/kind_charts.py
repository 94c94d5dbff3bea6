"""Charts of the reviewed results of `tests/golden`, drawn by the kinds' own chart functions."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape

from auditor_client.charts.chart import svg
from auditor_client.kinds.analysis import read_receipt
from auditor_client.kinds.presentation import PresentedChart
from auditor_client.local.private_files import HOME_VARIABLE
from openapi.kinds.registry import BUILT_IN
from tests.golden import FOLDER
from tests.golden.results import keep_sums

_COLOURS = Path(__file__).parents[3] / "api/console/static/colours.js"
# The kind whose chart README shows.
_SHOWN = "score-histogram"


def kind_charts() -> dict[str, str]:
    """Return the first chart of each kind that has one."""
    return {kind: drawn[0] for kind in BUILT_IN if (drawn := charts(kind))}


def result_chart() -> str:
    """Return the chart of a result that README shows: shares by group, with their limits."""
    return charts(_SHOWN)[1]


def charts(kind: str) -> list[str]:
    """Return the charts of the kind's reviewed result, for light and dark pages."""
    with _sums():
        figures = read_receipt(FOLDER / "receipts" / f"{kind}.json").figures()
    return [for_both(figure) for figure in figures]


def sentence(kind: str) -> str:
    """Return the answer of the kind's reviewed result."""
    text = (FOLDER / "results" / f"{kind}.json").read_text(encoding="utf-8")
    found: str = json.loads(text)["audits"][0]["sentence"]
    return found


def for_both(figure: PresentedChart) -> str:
    """Return a chart as SVG whose colours follow the reader's light or dark screen."""
    drawn = svg(figure.chart)
    rules = "".join(
        f'[fill="{light}"]{{fill:{dark}}}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in _dark_colours().items()
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    title = f"<title>{escape(figure.caption)}</title>"
    return drawn.replace("><rect", f' role="img">{title}{style}<rect', 1) + "\n"


def _dark_colours() -> Mapping[str, str]:
    """Return the console's colours on dark screens, by those of paper."""
    [table] = re.findall(r"const DARK = \{(.*?)\};", _COLOURS.read_text(encoding="utf-8"), re.S)
    found = dict(re.findall(r'"?([#\w]+)"?: "(#\w+)"', table))
    return {**found, "#000": found["black"], "#888": found["#bbbbbb"]}


@contextmanager
def _sums() -> Iterator[None]:
    """Keep the sums of the reviewed two-party audit where a researcher's machine has them."""
    before = os.environ.get(HOME_VARIABLE)
    with TemporaryDirectory() as folder:
        keep_sums(Path(folder))
        os.environ[HOME_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[HOME_VARIABLE]
            if before is not None:
                os.environ[HOME_VARIABLE] = before
