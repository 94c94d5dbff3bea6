"""The result in words that a journalist can read and a statistician can check."""

from auditor_client.fairness.gap import FairnessGap
from auditor_client.kinds.score_histogram.result import OUTSIDE, ScoreHistogramResult
from auditor_client.reporting.metric_sentences import limits
from auditor_client.reporting.results_document import StudyFound


def question(audit: ScoreHistogramResult) -> str:
    """Return the question of the audit."""
    title = f"“{audit.content.title}”" if audit.content else "this content"
    return f"Does the platform find {title} equally relevant to {_listed(list(audit.counts))}?"


def explanation(gap: FairnessGap, alpha: float) -> str:
    """Explain the verdict with its probability."""
    between = limits(gap.low, gap.high)
    interval = (
        f"The fairness gap lies {between}; an interval made in this way holds the true gap with a"
        f" probability of at least {percent(1 - gap.delta)}."
    )
    verdict = gap.verdict(alpha)
    if verdict == "inconclusive":
        return (
            f"{interval} Whether the platform is within the tolerated {alpha:g} or beyond it, this"
            " audit cannot tell. More people, fewer bins or more epsilon would."
        )
    return (
        f"{interval} A verdict rests on limits that are tighter alone. The verdict “{verdict}”, at"
        " a tolerated gap that was fixed beforehand, is wrong with a probability of at most"
        f" {percent(gap.delta)}."
    )


def driver(audit: ScoreHistogramResult, gap: FairnessGap) -> str:
    """Describe the bin with the largest measured gap."""
    more, less = gap.groups
    name = audit.bin_names()[gap.bin]
    where = "outside of all bins" if name == OUTSIDE else f"of {name}"
    return (
        f"The measured gap is {gap.efg:.3f}. It is largest for scores {where}, where the share"
        f" of {more} is above that of {less}."
    )


def registration(study: StudyFound) -> str:
    """Whether, and when, the study was written down before it was run."""
    entered = study.registration
    if entered is None:
        return "The study was not registered in the platform’s ledger before it was run."
    when = {
        True: "Every release came after it: the question and the analysis were fixed before any"
        " answer was known.",
        False: "Not every release came after it, so part of the answer was known by then.",
        None: "A receipt has no proof of its place in the ledger, so it is not shown here that all"
        " releases came after it.",
    }[entered.first]
    return (
        f"The study was registered on {entered.at:%Y-%m-%d at %H:%M:%S} UTC, as entry"
        f" {entered.entry} of the platform’s ledger, signed by {entered.by}. {when} Audits outside"
        " of this study would not show here; the ledger names them all."
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
        "For each bin of scores, compare the shares of two groups whose scores fall into it. The"
        " fairness gap is the largest difference, over all bins and all pairs of groups. It is 0 if"
        " scores are distributed equally in all groups, and 1 if they have nothing in common."
    )


def assumptions(audit: ScoreHistogramResult) -> list[str]:
    """Return the assumptions of the verdict."""
    return [
        "The people of each group are a fair sample of those about whom the verdict speaks: how"
        " they were recruited is not something that this computation can check.",
        "Groups are comparable apart from what is asked about, for instance all qualified for the"
        " job, if they were chosen so.",
        "The platform scored the audience with the model it uses for everybody. Its signature"
        " makes it answerable for that; it does not prove it.",
        *_about_sizes(audit),
    ]


def _about_sizes(audit: ScoreHistogramResult) -> list[str]:
    words = {
        "known": "The numbers of scored people are exact: they were public from the start.",
        "noisy": "How many people were scored is private too; a noisy number was bought, and its"
        " error is in the interval.",
        "bins": "How many people were scored was estimated from the bins, and the error of that"
        " is in the interval.",
    }
    return [words[kind] for kind in sorted({group.size.kind for group in audit.release.groups})]


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def percent(share: float) -> str:
    return f"{100 * share:g} %"
