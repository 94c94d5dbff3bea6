"""Table and confidence limits of cumulative counts of scores and of logged numbers."""

from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.presentation import PresentedTable
from auditor_client.kinds.score_cdf.result import ScoreCdfResult

# Largest number of rows in a table for people; `frame()` has all rows.
MOST_ROWS = 20


def running_table(audit: ScoreCdfResult | LogCdfResult, head: str) -> PresentedTable:
    """Return cumulative counts up to some of the edges, and the total."""
    edges = audit.edges
    step = -(-len(edges) // MOST_ROWS)
    kept = sorted({*range(step - 1, len(edges), step), len(edges) - 1, len(edges)})
    names = [*(f"{edge:g}" for edge in edges), audit.all_there_is]
    rows = [
        (names[index], *(f"{counts[index]:,.0f}" for counts in audit.cumulative.values()))
        for index in kept
    ]
    skipped = f" Every {step}th edge is shown." if step > 1 else ""
    caption = f"Cumulative counts, with noise.{skipped}"
    return PresentedTable(caption, (head, *audit.cumulative), tuple(rows))
