"""Charts of an outcome test."""

from auditor_client.kinds.outcome_test.result import OutcomeTestResult
from auditor_client.kinds.presentation import Figure, Judgement
from auditor_client.outcome.charts import effect_chart, marginal_chart


def illustrate(audit: OutcomeTestResult, judged: Judgement) -> tuple[Figure, ...]:
    """Return average outcomes by bin, and differences at equal scores."""
    tested = audit.test(delta=judged.delta)
    averages = "The average outcome of each group per bin of scores."
    effects = "Differences at equal scores; limits hold for each alone."
    return Figure(marginal_chart(tested), averages), Figure(effect_chart(tested), effects)
