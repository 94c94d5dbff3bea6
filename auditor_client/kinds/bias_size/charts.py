"""Chart of a bias size."""

from auditor_client.charts.count_charts import keep_finite, limits_chart
from auditor_client.kinds.bias_size.result import BiasSizeResult
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: BiasSizeResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the change of each group's opportunities, with its limits."""
    moved = audit.notifications(judged.delta)
    limits = {name: (each.value, each.low, each.high) for name, each in moved.items()}
    words = f"Change of the opportunities of {', '.join(moved)}, in percent, with limits."
    chart = limits_chart(keep_finite(limits), "change in percent", words)
    return (PresentedChart(chart, "Change of each group's opportunities without the bias."),)
