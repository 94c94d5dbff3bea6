"""Chart of an envy-freeness audit."""

from auditor_client.charts.count_charts import limits_chart
from auditor_client.kinds.envy_freeness.result import EnvyFreenessResult
from auditor_client.kinds.presentation import Judgement, PresentedChart


def illustrate(audit: EnvyFreenessResult, _: Judgement) -> tuple[PresentedChart, ...]:
    """Return a chart of the numbers of targets in envy and certified without envy."""
    made, error = audit.release, audit.error_95
    counts = {"in envy": made.envious, "certified without": made.no_envy}
    limits = {name: (count, count - error, count + error) for name, count in counts.items()}
    words = (
        f"Of {made.targets} people: in envy {made.envious}, certified without envy "
        f"{made.no_envy}; with noise."
    )
    chart = limits_chart(limits, "people", words, (0, made.targets))
    return (PresentedChart(chart, "Audited people by result, with limits of 95 %."),)
