"""Chart of a distribution of scores."""

from auditor_client.kinds.building_blocks.cumulative_charts import running_chart
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.kinds.score_cdf.result import ScoreCdfResult


def illustrate(audit: ScoreCdfResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the cumulative counts of each group."""
    return (PresentedChart(running_chart(audit, "score", "people"), "People up to each score."),)
