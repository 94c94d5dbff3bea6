"""Chart of a two-party audit."""

from auditor_client.charts.count_charts import binned_chart, keep_finite, limits_chart
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.kinds.two_party.exchange import load_sums
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.kinds.two_party.summary import OF_ONE_NUMBER, averages
from privacy.metric_values.from_request import HISTOGRAM


def illustrate(audit: TwoPartyResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of each group's metric or bins, if this machine has the sums."""
    name = audit.release.metric.name
    if load_sums(audit.id) is None:
        return ()
    if name == HISTOGRAM:
        return (_bins(audit),)
    if name not in OF_ONE_NUMBER:
        return ()
    found = {each.group: (each.value, each.low, each.high) for each in averages(audit, judged)}
    words = f"The metric {name} of {', '.join(found)}, with limits for each alone."
    return (PresentedChart(limits_chart(keep_finite(found), name, words), words),)


def _bins(audit: TwoPartyResult) -> PresentedChart:
    cells = [
        {"group": each["group"], "bin": each["cell"], "count": each["sum"]}
        for each in audit.table().to_pylist()
    ]
    words = "People in each bin of scores, in sums of weights, with limits of 95 % for each alone."
    return PresentedChart(
        binned_chart(cells, audit.numbers()["error_95"], "bin of scores", words), words
    )
