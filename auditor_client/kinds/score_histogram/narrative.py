"""Result in words that a journalist can read and a statistician can check."""

from auditor_client.fairness.gap import FairnessGap
from auditor_client.kinds.score_histogram.result import OUTSIDE, ScoreHistogramResult
from auditor_client.reporting.metric_sentences import limits
from auditor_client.reporting.results_document import StudyFound

# Edges that are written out; of more, their number and their ends.
_MOST_EDGES = 40


def question(audit: ScoreHistogramResult) -> str:
    """Return the question of the audit."""
    title = f"“{audit.content.title}”" if audit.content else "this content"
    return f"Does the platform find {title} equally relevant to {_listed(list(audit.counts))}?"


def explanation(gap: FairnessGap, alpha: float) -> str:
    """Return the verdict with its probability of error."""
    between = limits(gap.low, gap.high)
    above = ""
    if gap.threshold is not None:
        of_edges = limits(gap.threshold.low, gap.threshold.high)
        above = f", and the largest gap of shares above one edge {of_edges}"
    interval = (
        f"The fairness gap of single bins lies {between}{above}; an interval computed in "
        "this way contains the true gap with a probability of at least "
        f"{percent(1 - gap.delta)}."
    )
    verdict = gap.verdict(alpha)
    if verdict == "inconclusive" and (reason := gap.reason(alpha)):
        return f"{interval} There is no verdict: {reason}. An edge further up would allow one."
    if verdict == "inconclusive":
        return (
            f"{interval} This audit cannot tell whether the gap is within the tolerated "
            f"{alpha:g} or beyond it. More people, fewer bins or more epsilon could."
        )
    return (
        f"{interval} A verdict uses one limit at a time, which is tighter. The verdict "
        f"“{verdict}”, at a tolerated gap that was fixed beforehand, is wrong with a "
        f"probability of at most {percent(gap.delta)}."
    )


def driver(audit: ScoreHistogramResult, gap: FairnessGap) -> str:
    """Describe the bin with the largest measured gap."""
    more, less = gap.groups
    name = audit.bin_names()[gap.bin]
    where = "outside all bins" if name == OUTSIDE else f"of {name}"
    return (
        f"The measured gap is {gap.efg:.3f}. It is largest for scores {where}, where the share"
        f" of {more} is above that of {less}."
    )


def threshold(audit: ScoreHistogramResult, gap: FairnessGap) -> list[str]:
    """Describe the edge with the largest measured gap above it, and name all edges."""
    if gap.threshold is None:
        return []
    more, less = gap.threshold.groups
    edges = [f"{low:g}" for low, _ in audit.limits()[1:]]
    at = audit.edge_score(gap.threshold.edge)
    where = "scores outside all bins" if at is None else f"scores of {at:g} or above"
    listed = f" The edges are {', '.join(edges)}." if edges else ""
    if len(edges) > _MOST_EDGES:
        listed = f" There are {len(edges)} edges from {edges[0]} to {edges[-1]}."
    return [
        f"Above one edge the largest measured gap is {gap.threshold.estimate:.3f}, for {where},"
        f" where the share of {more} is above that of {less}.{listed}"
    ]


def registration(study: StudyFound) -> str:
    """Return sentences about the registration of the study before its run."""
    entered = study.registration
    if entered is None:
        return "The study was not registered in the platform’s ledger before it was run."
    when = {
        True: "Every release came after the registration: the question and the analysis were "
        "fixed before any answer was known.",
        False: (
            "Not every release came after the registration, so part of the answer was known "
            "by then."
        ),
        None: "One receipt has no proof of its ledger entry, so this report does not show that "
        "all releases came after the registration.",
    }[entered.first]
    return (
        f"The study was registered on {entered.at:%Y-%m-%d at %H:%M:%S} UTC, as entry "
        f"{entered.entry} of the platform’s ledger, signed by {entered.by}. {when} This "
        "report does not show audits outside this study; the ledger names all of them."
    )


def joint_guarantee(study: StudyFound, verdicts: int) -> str:
    """Return the joint guarantee of a study's verdicts."""
    shared = f" {verdicts} audits share that probability equally." if verdicts > 1 else ""
    return (
        f"The study tolerates a gap of {study.alpha:g}. The probability that any of its verdicts is"
        f" wrong is at most {percent(study.delta)}.{shared}"
    )


def definition() -> str:
    return (
        "The fairness gap is the largest difference between the shares of two groups "
        "with scores in the same bin. It is taken over all bins of scores and all pairs "
        "of groups. The verdict covers it and the largest difference of shares above any "
        "edge, because a smooth bias hides from single bins. Both are 0 when scores are "
        "distributed alike in all groups."
    )


def assumptions(audit: ScoreHistogramResult) -> list[str]:
    """Return the assumptions of the verdict."""
    return [
        "The people of each group are a representative sample of the population of the "
        "verdict. This computation cannot check how they were recruited.",
        "Groups are comparable apart from the property in question; for example, all "
        "people are qualified for the job, if they were chosen for that.",
        "The platform scored the audience with the model it uses for everybody. Its "
        "signature makes it accountable for this, but does not prove it.",
        *_about_sizes(audit),
        *_about_clusters(audit),
    ]


def _about_clusters(audit: ScoreHistogramResult) -> list[str]:
    known = audit.clusters
    if not known:
        return []
    people = f"{known['number']:.0f} clusters of up to {known['largest']:.0f} people"
    widened = f"variances are taken {known['design_effect']:.2f} times as large"
    if known["correlation"] < 1:
        return [
            f"People were recruited in {people}. Within them scores are correlated by at most"
            f" {known['correlation']:g}, which was declared and cannot be checked: {widened}."
        ]
    return [f"People were recruited in {people}, whose members may be all alike: {widened}."]


def _about_sizes(audit: ScoreHistogramResult) -> list[str]:
    words = {
        "known": "The numbers of scored people are exact: they were public from the start.",
        "noisy": "The number of scored people is private too; a noisy number was bought, and the "
        "interval includes its error.",
        "bins": "The number of scored people was estimated from the bins, and the interval "
        "includes the error of the estimate.",
    }
    return [words[kind] for kind in sorted({group.size.kind for group in audit.release.groups})]


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def percent(share: float) -> str:
    return f"{100 * share:g} %"
