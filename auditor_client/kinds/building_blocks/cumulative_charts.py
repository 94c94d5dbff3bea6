"""Chart of cumulative counts against the score or a logged number."""

import altair as alt

from auditor_client.charts.chart import WIDTH, Chart, chart_of, finish
from auditor_client.charts.count_charts import group_marks
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.score_cdf.result import ScoreCdfResult


def running_chart(audit: ScoreCdfResult | LogCdfResult, title: str, unit: str) -> Chart:
    """Return a chart of each group's cumulative counts up to each edge, with noise."""
    names = list(audit.cumulative)
    start = audit.release.bins.edges[0]
    rows = [
        {"group": name, "up_to": edge, "count": count}
        for name, counts in audit.cumulative.items()
        for edge, count in zip([start, *audit.edges], [0.0, *counts[:-1]], strict=True)
    ]
    base = chart_of(rows).encode(
        x=alt.X("up_to:Q", title=title, scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("count:Q", title=f"{unit} up to here"),
        **group_marks(names),
    )
    words = (
        f"Cumulative counts of {', '.join(names)} by {title}, with noise: each errs by "
        f"more than {audit.error_95} with a probability of at most 5 %."
    )
    line = base.mark_line(strokeWidth=1.8)
    return finish(line.properties(width=WIDTH, height=280), words)
