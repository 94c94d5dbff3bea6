"""Chart of a distribution of a logged number."""

from auditor_client.kinds.building_blocks.cumulative_charts import running_chart
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: LogCdfResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the cumulative counts of each group."""
    column = audit.release.column
    return (PresentedChart(running_chart(audit, column, "rows"), f"Rows up to each {column}."),)
