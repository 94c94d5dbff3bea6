"""Answer of a choice among contents: the one whose scores differ most between two groups."""

from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary


def summarise(audit: MostSkewedResult, _: Judgement) -> Summary:
    """Return the chosen content, and how far it can be from the most skewed one."""
    made, names = audit.release, _names(audit)
    chosen = names[audit.position]
    return Summary(
        f"{chosen} has about the largest difference of scores between the two groups: its skew is"
        f" at most {audit.error_95:,} people below the largest (95 % confidence).",
        details=(
            f"It was chosen among {len(names)} contents at the price of one audit.",
            "How large the skew is does not come out; a score histogram of this content tells.",
        ),
        table=PresentedTable(
            "Contents that were compared; the noisy choice says nothing about their order.",
            ("Content", "Chosen"),
            tuple(
                (name, "yes" if number == made.chosen else "no")
                for number, name in enumerate(names)
            ),
        ),
        assumptions=(
            "The choice is made by the noisy largest skew: a content whose skew is about as large"
            " may be chosen instead.",
        ),
    )


def _names(audit: MostSkewedResult) -> list[str]:
    """Return titles, or numbers and digests where the contents are not known here."""
    if len(audit.contents) == len(audit.release.content_digests):
        return [f"“{content.title}”" for content in audit.contents]
    return [
        f"Content {number} ({digest[:15]}…)"
        for number, digest in enumerate(audit.release.content_digests, 1)
    ]
