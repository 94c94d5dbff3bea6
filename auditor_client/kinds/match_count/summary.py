"""Answer of a match count: the people found in each group, and the error of each number."""

from auditor_client.kinds.match_count.result import MatchCountResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.reporting.rounding import error, join_words


def summarise(audit: MatchCountResult, _: Judgement) -> Summary:
    """Return the numbers of people found with their limits."""
    off = audit.error_95
    found = join_words(f"{count:,} of {name}" for name, count in audit.counts.items())
    return Summary(
        f"The platform found about {found} ({error(off)} each, 95 % confidence).",
        details=(
            "Noise may make a number negative, or larger than the uploaded number.",
            "Whether any single identifier was found stays private.",
        ),
        table=PresentedTable(
            "People found; each number alone lies between its limits with 95 % confidence.",
            ("Group", "Found", "Low", "High"),
            tuple(
                (name, f"{count:,}", f"{max(count - off, 0):,}", f"{max(count + off, 0):,}")
                for name, count in audit.counts.items()
            ),
        ),
        assumptions=("A person who appears twice in the upload counts once.",),
    )
