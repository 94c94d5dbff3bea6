"""Table and confidence limits of cumulative counts of scores and of logged numbers."""

from collections.abc import Sequence

from auditor_client.kinds.log_cdf.result import LogCdfResult
from auditor_client.kinds.presentation import PresentedTable
from auditor_client.kinds.score_cdf.result import ScoreCdfResult

# Largest number of rows in a table for people; `table()` has all rows.
MOST_ROWS = 20


def running_table(audit: ScoreCdfResult | LogCdfResult, head: str) -> PresentedTable:
    """Return cumulative counts up to some of the edges, and the total."""
    edges = audit.edges
    step = -(-len(edges) // MOST_ROWS)
    kept = sorted({*range(step - 1, len(edges), step), len(edges) - 1, len(edges)})
    names = [*_shortest(edges), audit.all_there_is]
    rows = [
        (names[index], *(f"{counts[index]:,.0f}" for counts in audit.cumulative.values()))
        for index in kept
    ]
    skipped = f" One edge in {step} is shown." if step > 1 else ""
    caption = f"Cumulative counts, with noise.{skipped}"
    return PresentedTable(caption, (head, *audit.cumulative), tuple(rows))


def _shortest(edges: Sequence[float]) -> list[str]:
    """Return edges with the fewest significant digits, at least three, that tell them apart."""
    for digits in range(3, 17):
        names = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(names)) == len(names):
            return names
    return [repr(edge) for edge in edges]
