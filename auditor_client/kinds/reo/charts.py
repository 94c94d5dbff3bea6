"""Chart of an REO audit."""

from auditor_client.charts.count_charts import keep_finite, limits_chart
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.kinds.reo.result import ReoResult
from auditor_client.kinds.reo.summary import penalties
from auditor_client.reo.charts import monitoring_chart


def illustrate(audit: ReoResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the penalty of each day or each strategy."""
    caption = "The penalty of ranking-based equal opportunity, with its limits."
    if audit.release.days:
        return (PresentedChart(monitoring_chart(audit.monitor(delta=judged.delta)), caption),)
    found = penalties(audit, judged)
    limits = keep_finite(
        {name: (each.penalty, each.low, each.high) for name, each in found.items()}
    )
    words = f"The penalty of {', '.join(found)}, with limits that hold for all at once."
    return (PresentedChart(limits_chart(limits, "penalty", words), caption),) if limits else ()
