"""Answer of a two-party audit: the metric of each hidden group, with limits."""

import math
from typing import TYPE_CHECKING

from auditor_client.kinds.presentation import Judgement, PresentedTable, Summary
from auditor_client.kinds.two_party.exchange import load_sums
from auditor_client.kinds.two_party.result import TwoPartyResult
from auditor_client.reporting.rounding import (
    confidence,
    decimals_for,
    format_interval,
    join_words,
    lower,
    number,
    upper,
)
from privacy.metric_values.from_request import HISTOGRAM

if TYPE_CHECKING:
    from auditor_client.two_party import Average
    from auditor_client.two_party.decisions import Decision

# Metrics with one number for each group.
OF_ONE_NUMBER = ("false-positives", "outcomes", "auc", "ndcg")


def summarise(audit: TwoPartyResult, judged: Judgement) -> Summary:
    """Return the averages, and the verdict if the judgement has a tolerance."""
    name = audit.release.metric.name
    if load_sums(audit.id) is None:
        return _without_sums(audit)
    tolerance = judged.alpha or USUAL.get(name, 0.0)
    decided = audit.decide(tolerance, judged.delta) if tolerance > 0 else None
    if decided is not None:
        lead = _decided(decided)
    elif name in OF_ONE_NUMBER:
        lead = f"{TITLES[name]} {join_words(map(_words, averages(audit, judged)))}"
        lead = f"{lead} ({confidence(judged.delta)} each)."
    else:
        lead = f"{TITLES[name]} for {join_words(audit.groups)}."
    return Summary(
        lead,
        decided.verdict if decided else None,
        details=(
            "The platform computed on encrypted weights; only this machine decrypted the sums.",
        ),
        table=_table(audit, judged),
        assumptions=(
            "Weights are the probabilities that a person belongs to each group.",
            (
                "The regulator may open any run; the opening shows whether it was computed "
                "as agreed."
            ),
        ),
    )


def _decided(found: "Decision") -> str:
    """Return the verdict of a metric's rule, and the largest difference that it compared."""
    if found.one_sided:
        return f"{found.verdict.capitalize()}: {found.explain()}"
    lead = {
        "fair": f"Fair within {found.tolerance:g}: no difference between groups is larger.",
        "unfair": f"Unfair beyond {found.tolerance:g}: some difference between groups is larger.",
        "inconclusive": "Inconclusive: whether some difference between groups is larger than"
        f" {found.tolerance:g} cannot be told.",
    }[found.verdict]
    worst, decimals = found.worst, decimals_for(found.worst.low, found.worst.high)
    if not math.isfinite(worst.value):
        return f"{lead} The sums are too small to measure a difference ({found.rule})."
    return (
        f"{lead} The largest one found ({found.rule}): {worst.first} is"
        f" {number(worst.value, decimals)} above {worst.second},"
        f" {format_interval(worst.low, worst.high)} ({confidence(found.delta)})."
    )


# The usual tolerance of a metric's rule; others are decided where one is given.
USUAL = {HISTOGRAM: 0.2}
TITLES = {
    HISTOGRAM: "Shares of each bin of scores were computed",
    "false-positives": "False positives among those without the outcome:",
    "outcomes": "Average outcomes:",
    "auc": "How well scores rank (AUC):",
    "ndcg": "Quality of the lists shown (NDCG):",
    "lot": "The value of each rank was computed",
    "pot": "Outcomes of equally scored people were computed",
}


def averages(audit: TwoPartyResult, judged: Judgement) -> "list[Average]":
    """Return the metric of each group; if it has several parts, the first."""
    return audit.averages(0, judged.delta)


def _words(average: "Average") -> str:
    decimals = decimals_for(average.low, average.high)
    limits = f"{lower(average.low, decimals)} to {upper(average.high, decimals)}"
    return f"{average.group} {number(average.value, decimals)} ({limits})"


def _table(audit: TwoPartyResult, judged: Judgement) -> PresentedTable:
    if audit.release.metric.name in OF_ONE_NUMBER:
        rows: tuple[tuple[str, ...], ...] = tuple(
            (
                each.group,
                number(each.people, 0),
                number(each.value, 4),
                lower(each.low, 4),
                upper(each.high, 4),
            )
            for each in averages(audit, judged)
        )
        caption = "The metric of each group; limits hold for each alone."
        return PresentedTable(caption, ("Group", "People", "Value", "Low", "High"), rows)
    cells = audit.table().to_pylist()
    rows = tuple((each["group"], each["cell"], number(each["sum"], 1)) for each in cells)
    return PresentedTable("Noisy sums, in numbers of people.", ("Group", "Cell", "Sum"), rows)


def _without_sums(audit: TwoPartyResult) -> Summary:
    return Summary(
        "The sums of this run are not on this machine: the SDK decrypted them on the "
        "machine that ran it.",
        details=(
            f"The platform computed {audit.release.metric.name} on encrypted weights, and "
            "signed the receipt. Run `auditor audit show` on the machine that ran the "
            "audit.",
        ),
    )
