"""Answers of released audits as result pages show them, by the SDK's own functions.

The kind's auditor half makes sentence, table and charts. Labels stand for names of groups; the
reader's browser replaces them.
"""

from dataclasses import dataclass
from typing import Any

from auditor_client.kinds.presentation import PresentedTable, Summary
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.report_page import heading


@dataclass(frozen=True)
class Reading:
    """Answer of one audit: sentence, verdict, details, charts and table."""

    headline: str
    words: tuple[str, ...]
    verdict: str
    pictures: tuple[tuple[dict[str, Any], str], ...]
    table: PresentedTable | None
    question: str


def read(result: Result[Any], alpha: float | None, delta: float) -> Reading:
    """Return the reading of a released audit at this tolerance."""
    answer: Summary = result.summary(alpha, delta)
    figures = result.figures(alpha, delta)
    return Reading(
        answer.sentence,
        answer.details,
        answer.verdict or "",
        tuple((figure.chart.to_dict(), figure.caption) for figure in figures),
        answer.table,
        heading(result, answer),
    )
