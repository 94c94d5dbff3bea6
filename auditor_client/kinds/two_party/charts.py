"""Chart of a two-party audit."""

from auditor_client.charts.count_charts import keep_finite, limits_chart
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.kinds.two_party.exchange import load_sums
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.kinds.two_party.summary import OF_ONE_NUMBER, averages


def illustrate(audit: TwoPartyResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of each group's metric, if it is one number and this machine has the sums."""
    name = audit.release.metric.name
    if name not in OF_ONE_NUMBER or load_sums(audit.id) is None:
        return ()
    found = {each.group: (each.value, each.low, each.high) for each in averages(audit, judged)}
    words = f"The metric {name} of {', '.join(found)}, with limits for each alone."
    return (PresentedChart(limits_chart(keep_finite(found), name, words), words),)
