"""Answer of a logged number's distribution: the median of each group, and edges of bins."""

from auditor_client.kinds.building_blocks.cumulative_summary import running_table
from auditor_client.kinds.log_cdf.medians import medians
from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.presentation import Judgement, Summary
from auditor_client.reporting.rounding import confidence, error, format_interval, join_words


def summarise(audit: LogCdfResult, judged: Judgement) -> Summary:
    """Return the medians with their limits, and edges of about equally full bins."""
    made = audit.release
    found = medians(audit, judged.delta)
    middle = join_words(
        f"{format_interval(each.low, each.high)} for {each.group}" for each in found
    )
    edges = ", ".join(f"{edge:.3g}" for edge in audit.quantile_edges(10))
    return Summary(
        f"The median of {made.column} in the log {made.log} lies {middle}"
        f" ({confidence(judged.delta)}).",
        details=(
            f"Edges of ten bins that are about equally full: {edges}. A bad choice of "
            "edges can cost power, but never validity.",
            f"Each cumulative count is within {error(audit.error_95)} rows (95 % confidence).",
        ),
        table=running_table(audit, f"{made.column} up to"),
        assumptions=(
            "Limits account for the noise. They describe the drawn rows, at most "
            f"{made.rows_per_person} per person.",
        ),
    )
