"""Chart of a distribution of scores."""

from auditor_client.kinds.building_blocks.cumulative_charts import running_chart
from auditor_client.kinds.presentation import Figure, Judgement
from auditor_client.kinds.score_cdf.result import ScoreCdfResult


def illustrate(audit: ScoreCdfResult, _: Judgement) -> tuple[Figure, ...]:
    """Return the running counts of each group."""
    return (Figure(running_chart(audit, "score", "people"), "People up to each score."),)
