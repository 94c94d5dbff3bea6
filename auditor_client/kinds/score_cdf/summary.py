"""Answer of a score distribution: the distance between groups, or the median of one group."""

from auditor_client.fairness.metrics.quantiles import quantile
from auditor_client.kinds.building_blocks.cumulative_summary import running_table
from auditor_client.kinds.presentation import Judgement, Summary
from auditor_client.kinds.score_cdf.result import ScoreCdfResult
from auditor_client.reporting.metric_sentences import sentence
from auditor_client.reporting.rounding import confidence, error, format_interval, lower, upper


def summarise(audit: ScoreCdfResult, judged: Judgement) -> Summary:
    """Return the largest difference between groups at any cut-off; for one group, its median."""
    delta = judged.delta
    found = _distance(audit, delta) if len(audit.cumulative) > 1 else _median(audit, delta)
    apart = []
    if len(audit.cumulative) > 1:
        differences = audit.quantile_gap(0.5, delta)
        apart = [sentence("quantile-gap", 0.5, each) for each in differences]
    return Summary(
        found,
        details=(
            *apart,
            f"Each cumulative count is within {error(audit.error_95)} people (95 % confidence).",
            (
                "A distribution has no verdict. Use a score histogram to test whether scores "
                "are fair."
            ),
        ),
        table=running_table(audit, "Scores up to"),
        assumptions=(
            "The people of each group are a representative sample of the population of "
            "the finding.",
        ),
    )


def _distance(audit: ScoreCdfResult, delta: float) -> str:
    widest = max(audit.kolmogorov_smirnov(delta), key=lambda each: each.value)
    first, second = widest.groups
    return (
        f"The largest difference between the shares of {first} and {second} below any one score"
        f" lies {format_interval(100 * widest.low, 100 * widest.high, 1)} percentage points"
        f" ({confidence(delta)})."
    )


def _median(audit: ScoreCdfResult, delta: float) -> str:
    view, limits = audit.group_views()[0], audit.limits()
    found = quantile(view, limits, 0.5, delta)
    return (
        f"Half of {view.name} score below a value between {lower(found.low)} and"
        f" {upper(found.high)} ({confidence(delta)})."
    )
