"""Chart of an envy-freeness audit."""

from auditor_client.charts.count_charts import limits_chart
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: EnvyFreenessResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return the numbers of people in envy and certified without."""
    made, error = audit.release, audit.error_95
    counts = {"in envy": made.envious, "certified without": made.no_envy}
    limits = {name: (count, count - error, count + error) for name, count in counts.items()}
    words = f"Of {made.targets} people: in envy {made.envious}, without {made.no_envy}; noisy."
    chart = limits_chart(limits, "people", words, (0, made.targets))
    return (PresentedChart(chart, "People audited, by what was shown of them; limits of 95 %."),)
