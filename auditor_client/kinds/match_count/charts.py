"""Chart of a match count."""

from auditor_client.charts.count_charts import limits_chart
from auditor_client.kinds.match_count.result import MatchCountResult
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: MatchCountResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the people found in each group, with limits."""
    error = audit.error_95
    found = {name: (count, count - error, count + error) for name, count in audit.counts.items()}
    words = f"People found in {', '.join(found)}, with limits of 95 % for each alone."
    chart = limits_chart(found, "people", words)
    return (
        PresentedChart(
            chart, "People found, with limits that hold for each group with 95 % confidence."
        ),
    )
