"""Answer of a choice among contents: the one whose scores differ most between two groups."""

from auditor_client.kinds.most_skewed.result import MostSkewedResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary


def summarise(audit: MostSkewedResult, _: Judgement) -> Summary:
    """Return the chosen content, and the largest distance of its skew from the largest."""
    made, names = audit.release, names_of_contents(audit)
    chosen = names[audit.position]
    return Summary(
        f"{chosen} has about the largest difference of scores between the two groups: its skew is"
        f" at most {audit.error_95:,} people below the largest (95 % confidence).",
        details=(
            f"It was chosen among {len(names)} contents at the price of one audit.",
            (
                "The audit does not release the size of the skew; a score histogram of this "
                "content measures it."
            ),
        ),
        table=PresentedTable(
            "The compared contents; the noisy choice does not rank them.",
            ("Content", "Chosen"),
            tuple(
                (name, "yes" if number == made.chosen else "no")
                for number, name in enumerate(names)
            ),
        ),
        assumptions=(
            "The choice is the largest skew with noise: a content with a slightly "
            "smaller skew may be chosen instead.",
        ),
    )


def names_of_contents(audit: MostSkewedResult) -> list[str]:
    """Return titles, or numbers and digests of contents that this machine does not know."""
    if len(audit.contents) == len(audit.release.content_digests):
        return [f"“{content.title}”" for content in audit.contents]
    return [
        f"Content {number} ({digest[:15]}…)"
        for number, digest in enumerate(audit.release.content_digests, 1)
    ]
