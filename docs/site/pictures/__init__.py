"""Pictures of the documentation, drawn from the code, so that they cannot disagree with it."""

from collections.abc import Mapping
from pathlib import Path

from docs.site.pictures import audit_states, knowledge, verdicts
from docs.site.pictures.kind_charts import kind_charts, result_chart

ROOT = Path(__file__).parents[3]
# The picture that README shows is committed; the others are drawn when the site is built.
COMMITTED = "images/result.svg"


def pictures() -> Mapping[str, str]:
    """Return each picture as SVG, by its place in the site."""
    charts = {f"images/kinds/{kind}.svg": svg for kind, svg in kind_charts().items()}
    return {
        "images/life-of-an-audit.svg": audit_states.draw(),
        "images/who-learns-what.svg": knowledge.draw(),
        "images/reading-a-verdict.svg": verdicts.draw(),
        COMMITTED: result_chart(),
        **charts,
    }
