"""The report: one HTML file for a journalist and a statistician. No network, no script.

Whatever an outsider may have written (titles, names of groups) passes `escape`.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

from auditor_client.fairness.bin_intervals import BinShare, measured_shares
from auditor_client.fairness.charts import verdict_chart
from auditor_client.fairness.gap import FairnessGap
from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.building_blocks import verification_section as checks
from auditor_client.kinds.registry import AnyResult
from auditor_client.kinds.score_histogram import narrative
from auditor_client.kinds.score_histogram.analysis import analyse
from auditor_client.kinds.score_histogram.charts import gap_chart, share_chart
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.reporting.html_page import (
    article,
    bullets,
    figure,
    page,
    paragraphs,
    section,
    table,
)
from auditor_client.reporting.metric_sentences import down, name_of, up
from auditor_client.reporting.results_document import (
    AuditFound,
    ConsistencyFound,
    Gap,
    MetricFound,
    Results,
    StudyFound,
)

# So many differences are shown; `results.json` has more.
DRIVERS = 10


def render(
    audit: ScoreHistogramResult,
    *,
    alpha: float,
    delta: float,
    selection: MetricSelection | None = None,
) -> str:
    """The page of one score histogram."""
    chosen = selection or MetricSelection()
    found = analyse(audit, alpha=alpha, delta=delta, selection=chosen)
    question = narrative.question(audit)
    return page(question, [f"<h1>{escape(question)}</h1>", *_histogram(audit, found, chosen)])


def render_study(
    audits: Mapping[str, AnyResult], results: Results, study: StudyFound, selection: MetricSelection
) -> str:
    """The page of a whole study; `results` are those of `audits`, in their order."""
    parts = [
        f"<h1>{escape(study.title)}</h1>",
        *paragraphs(filter(None, [study.question])),
        table("The study’s audits", ("audit", "kind", "verdict"), map(_summary, results.audits)),
        *paragraphs([narrative.together(study, sum(bool(one.verdict) for one in results.audits))]),
        section("Registration", *paragraphs([narrative.registration(study)]), _digest(study)),
        *_compared(results.consistency),
    ]
    for found in results.audits:
        audit = audits[found.name]
        if isinstance(audit, ScoreHistogramResult):
            head, body = narrative.question(audit), _histogram(audit, found, selection, study=True)
        else:
            head, body = f"{found.name}: {found.kind}", _other(audit, found, selection)
        parts.append(article(f"<h1>{escape(head)}</h1>", *body))
    return page(study.title, parts)


def _summary(found: AuditFound) -> tuple[str, str, str]:
    return found.name, found.kind, found.verdict or "none: see below"


def _digest(study: StudyFound) -> str:
    return table("", ("", ""), [("digest of the study’s file", study.digest)])


def _compared(found: ConsistencyFound | None) -> list[str]:
    if found is None:
        return []
    names = f"Compared as {found.relation}: {', '.join(found.audits)}."
    return [section("Can one model have made these releases?", *paragraphs([found.words, names]))]


def _histogram(
    audit: ScoreHistogramResult,
    found: AuditFound,
    selection: MetricSelection,
    *,
    study: bool = False,
) -> list[str]:
    gap = audit.fairness_gap(delta=found.delta)
    shares = measured_shares(audit.groups())
    return [
        _verdict(audit, gap, found.alpha),
        section("What was measured", *_pictures(audit, shares, found.alpha), _people(found)),
        section("Where the gap comes from", *_sources(found)),
        *_metrics(found),
        section("Promise of privacy", *paragraphs(narrative.privacy(audit)), _cost(audit)),
        section("What this rests on", bullets(narrative.assumptions(audit)), _assumptions(found)),
        section(
            "Check it yourself",
            checks.signed(audit, found),
            checks.reproduce(found, selection, study=study),
            checks.ledger(audit.known_proof()),
            checks.receipt(audit),
            checks.counts(audit),
        ),
    ]


def _other(audit: AnyResult, found: AuditFound, selection: MetricSelection) -> list[str]:
    """An audit that has no fairness gap."""
    numbers = [(name.replace("_", " "), _words(value)) for name, value in found.numbers.items()]
    return [
        section("What was measured", table("", ("", ""), numbers)),
        *_metrics(found),
        section("Promise of privacy", *paragraphs([narrative.both_relations(audit.release.price)])),
        section(
            "Check it yourself",
            checks.signed(audit, found),
            checks.reproduce(found, selection, study=True),
            checks.ledger(audit.known_proof()),
            checks.receipt(audit),
        ),
    ]


def _words(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {item}" for name, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _verdict(audit: ScoreHistogramResult, gap: FairnessGap, alpha: float) -> str:
    return (
        f'<div class="verdict {gap.verdict(alpha)}">'
        f"<p><strong>{escape(narrative.headline(gap, alpha))}</strong></p>"
        f"<p>{escape(narrative.explanation(gap, alpha))}</p>"
        f"<p>{escape(narrative.driver(audit, gap))}</p></div>"
        + figure(verdict_chart(gap, alpha), "The interval, and the gap that is tolerated.")
        + f"<p>{escape(narrative.definition())}</p>"
    )


def _pictures(audit: ScoreHistogramResult, found: Sequence[BinShare], alpha: float) -> list[str]:
    shares = share_chart(audit, found)
    gaps = gap_chart(audit, found, alpha)
    return [
        figure(
            shares,
            "Shares per bin of scores, with limits that hold for each share alone with 95 %."
            " Noise may take a share below zero.",
        ),
        figure(gaps, "The measured gap of each bin, noise included; the verdict allows for it."),
    ]


def _people(found: AuditFound) -> str:
    kinds = {"known": "exact", "noisy": "noisy number", "estimated": "estimated from the bins"}
    rows = [(one.group, str(one.people), kinds[one.known]) for one in found.people]
    return table("People scored", ("group", "people", "how it is known"), rows)


def _sources(found: AuditFound) -> list[str]:
    sure = narrative.percent(1 - found.delta)
    parts = []
    if len(found.pairs) > 1:
        parts.append(
            table(
                f"The gap of each pair of groups; all limits hold at once with {sure}",
                ("pair", "measured", "between", "and", "largest for scores"),
                map(_pair, found.pairs),
                figures=True,
            )
        )
    rows = [
        (
            f"{one.first} less {one.second}",
            one.scores,
            f"{one.value:.3f}",
            down(one.low),
            up(one.high),
        )
        for one in found.drivers[:DRIVERS]
    ]
    header = ("difference of shares", "scores", "measured", "between", "and")
    words = (
        "The scores at which groups differ most, as measured. The limits hold for all scores and"
        f" pairs at once with {sure}: where both have one sign, that difference is there."
    )
    return [*parts, table(words, header, rows, figures=True)]


def _pair(pair: Gap) -> tuple[str, ...]:
    names = f"{pair.more} and {pair.less}"
    return names, f"{pair.value:.3f}", down(pair.low), up(pair.high), pair.scores


def _metrics(found: AuditFound) -> list[str]:
    """Of each metric the pair that was measured furthest apart, in words; all pairs in figures."""
    by_metric: dict[str, list[MetricFound]] = {}
    for one in found.metrics:
        by_metric.setdefault(name_of(one.metric, one.at), []).append(one)
    if not by_metric:
        return []
    rows = [(name, max(pairs, key=_apart).words) for name, pairs in by_metric.items()]
    several = any(len(pairs) > 1 for pairs in by_metric.values())
    said = narrative.measures_together(len(rows), found.delta, pairs=several)
    shown = table("", ("measure", "in words"), rows)
    return [
        section(
            "Other ways to measure it",
            shown,
            *paragraphs([said]),
            _all_pairs(by_metric) if several else "",
        )
    ]


def _apart(one: MetricFound) -> float:
    return math.inf if one.value is None else abs(one.value - one.fair)


def _all_pairs(by_metric: Mapping[str, Sequence[MetricFound]]) -> str:
    rows = [
        (
            name,
            f"{one.first} and {one.second}",
            "none" if one.value is None else f"{one.value:.3f}",
            "none" if one.low is None else down(one.low),
            "none" if one.high is None else up(one.high),
        )
        for name, pairs in by_metric.items()
        for one in pairs
    ]
    header = ("measure", "pair", "measured", "between", "and")
    figures = table("All pairs of groups", header, rows, figures=True)
    return f"<details><summary>All pairs of groups</summary>{figures}</details>"


def _cost(audit: ScoreHistogramResult) -> str:
    price = audit.release.price
    words = f"The audit cost {price.debit} ({price.currency}) of the auditor’s budget."
    mandate = audit.mandate
    if mandate:
        words += (
            f" Of the mandate “{mandate.purpose}”, {mandate.spent} were spent since it began and"
            f" {mandate.remaining} remained to be spent when this was fetched."
        )
    return f"<p>{escape(words)}</p>"


def _assumptions(found: AuditFound) -> str:
    held = {True: "holds", False: "does not hold", None: "no release can tell"}
    rows = [(one.name, held[one.holds], one.words) for one in found.assumptions]
    words = "The paper’s assumptions, checked after the audit as far as that is possible"
    return table(words, ("assumption", "", ""), rows) if rows else ""
