"""Chart of a choice of the most skewed content."""

import math

from auditor_client.charts.count_charts import limits_chart
from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.most_skewed.summary import names_of_contents
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: MostSkewedResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the chosen content's distance from the largest skew."""
    names = names_of_contents(audit)
    known = {names[audit.position]: (math.nan, 0.0, float(audit.error_95))}
    words = (
        f"The skew of {names[audit.position]} is below the largest by a number of people on this "
        "line (95 % confidence). Nothing is released about other contents."
    )
    chart = limits_chart(known, "people below the largest skew", words, names=names)
    return (PresentedChart(chart, words),)
