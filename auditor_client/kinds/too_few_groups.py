"""Answer of an audit that compares groups, for an audience with too few of them."""

from typing import Any

from auditor_client.kinds.presentation import PresentedTable, Summary
from auditor_client.kinds.protocol import Result
from auditor_client.reporting.rounding import UNKNOWN

# Largest number of rows in a table for people; `table()` has all rows.
_MOST_ROWS = 25


def summarise(result: Result[Any]) -> Summary:
    """Return that there is no verdict, with the released numbers."""
    return Summary(
        "No verdict: this audit compares groups, and its audience has one.",
        details=("Upload at least two groups for a verdict. The numbers below have noise.",),
        table=_table(result),
    )


def _table(result: Result[Any]) -> PresentedTable:
    numbers = result.table()
    rows = numbers.slice(0, _MOST_ROWS).to_pylist()
    less = numbers.num_rows > _MOST_ROWS
    return PresentedTable(
        f"The first {_MOST_ROWS} rows of released numbers." if less else "Released numbers.",
        tuple(name.capitalize() for name in numbers.column_names),
        tuple(tuple(map(_cell, row.values())) for row in rows),
    )


def _cell(value: object) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.4g}" if isinstance(value, float) else str(value)
