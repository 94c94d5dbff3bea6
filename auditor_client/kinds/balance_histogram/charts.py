"""Chart of a balance histogram."""

from auditor_client.charts.count_charts import binned_chart
from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from auditor_client.kinds.balance_histogram.summary import bin_names
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: BalanceHistogramResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of each group's people by spent share of the cap."""
    cells = [
        {"group": group, "bin": name, "count": count}
        for group, counts in audit.counts.items()
        for name, count in zip(bin_names(audit), counts, strict=True)
    ]
    words = "People by share of the lifetime cap that they have spent, with limits of 95 %."
    chart = binned_chart(cells, audit.error_95, "share of the lifetime cap", words)
    return (PresentedChart(chart, words),)
