"""Table and confidence limits of running counts, as scores and logged numbers have them."""

from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.presentation import PresentedTable
from auditor_client.kinds.score_cdf.result import ScoreCdfResult

# A table for people has at most this many rows; `frame()` has all of them.
MOST_ROWS = 20


def running_table(audit: ScoreCdfResult | LogCdfResult, head: str) -> PresentedTable:
    """Return running counts up to some of the edges, and the last count of all."""
    edges = audit.edges
    step = -(-len(edges) // MOST_ROWS)
    kept = sorted({*range(step - 1, len(edges), step), len(edges) - 1, len(edges)})
    names = [*(f"{edge:g}" for edge in edges), audit.all_there_is]
    rows = [
        (names[place], *(f"{counts[place]:,.0f}" for counts in audit.cumulative.values()))
        for place in kept
    ]
    skipped = f" Every {step}th edge is shown." if step > 1 else ""
    caption = f"Running counts, noise included.{skipped}"
    return PresentedTable(caption, (head, *audit.cumulative), tuple(rows))
