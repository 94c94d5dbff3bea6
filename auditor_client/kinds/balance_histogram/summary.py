"""Answer of a balance histogram: the share of their lifetime cap that people have spent."""

from itertools import pairwise

from auditor_client.kinds.balance_histogram.result import BalanceHistogramResult
from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.reporting.rounding import error, join_words


def summarise(audit: BalanceHistogramResult, _: Judgement) -> Summary:
    """Return the most frequent share of the cap in each group, and the table of all shares."""
    names = bin_names(audit)
    fullest = join_words(
        f"{max(counts):,} of {group} have spent {names[counts.index(max(counts))]}"
        for group, counts in audit.counts.items()
    )
    columns = zip(*audit.counts.values(), strict=True)
    rows = [
        (name, *(f"{n:,}" for n in counts)) for name, counts in zip(names, columns, strict=True)
    ]
    rows.append(("outside of these", *(f"{count:,}" for count in audit.outside.values())))
    most = max(max(counts) for counts in audit.counts.values())
    return Summary(
        f"About {fullest} of their lifetime cap ({error(audit.error_95)} each, 95 % confidence)."
        if most > audit.error_95
        else f"No number of people stands out from the noise ({error(audit.error_95)} each, 95 %"
        " confidence): next to nobody of this audience could be counted.",
        details=(audit.words,),
        table=PresentedTable(
            "People by the share of their lifetime cap that they have spent, noise included.",
            ("Share of the cap", *audit.counts),
            tuple(rows),
        ),
    )


def bin_names(audit: BalanceHistogramResult) -> list[str]:
    """Return shares of the cap in percent, such as "0 to 10 %"."""
    return [f"{100 * low:g} to {100 * high:g} %" for low, high in pairwise(audit.edges)]
