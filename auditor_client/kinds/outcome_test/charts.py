"""Charts of an outcome test."""

from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.presentation import Judgement, PresentedChart
from auditor_client.outcome.charts import effect_chart, marginal_chart


def illustrate(audit: OutcomeTestResult, judged: Judgement) -> tuple[PresentedChart, ...]:
    """Return charts of average outcomes by bin, and of defined differences at equal scores."""
    tested = audit.test(delta=judged.delta)
    averages = "The average outcome of each group per bin of scores."
    effects = "Differences at equal scores; limits hold for each alone."
    return PresentedChart(marginal_chart(tested), averages), PresentedChart(
        effect_chart(tested), effects
    )
