"""Report of an audit of any kind: one HTML file with the answer first. No network, no script.

All text that an outsider may have written (titles, names of groups) passes `escape`.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.analysis import analyse
from auditor_client.kinds.building_blocks import verification_section as checks
from auditor_client.kinds.presentation import PresentedTable, Summary
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import kind_of
from auditor_client.reporting import html_page
from auditor_client.reporting.html_page import bullets, figure, page, paragraphs, section
from auditor_client.reporting.metric_sentences import name_of, round_down, round_up
from auditor_client.reporting.price_sentences import both_relations, noise_of_parts
from auditor_client.reporting.results_document import AuditFound, MetricFound


def render(
    audit: Result[Any],
    *,
    alpha: float | None = None,
    delta: float = 0.05,
    selection: MetricSelection | None = None,
) -> str:
    """Return the page of one audit."""
    chosen = selection or MetricSelection()
    found = analyse(audit, alpha=alpha, delta=delta, selection=chosen)
    title = heading(audit, audit.summary(alpha, delta))
    return page(title, [f"<h1>{escape(title)}</h1>", *body(audit, found, chosen)])


def heading(audit: Result[Any], answer: Summary) -> str:
    """Return the question of the audit, or the title of its kind with that of its content."""
    if answer.question:
        return answer.question
    title = kind_of(audit).contract.title
    return f"{title}: “{audit.contents[0].title}”" if len(audit.contents) == 1 else title


def body(
    audit: Result[Any], found: AuditFound, selection: MetricSelection, *, study: bool = False
) -> list[str]:
    """Return the sections of an audit: answer, measurements, price, assumptions, verification."""
    kind = kind_of(audit)
    answer = audit.summary(found.alpha, found.delta)
    figures = audit.figures(found.alpha, found.delta)
    return [
        _answer(answer),
        section(
            "Measurements",
            *(figure(each.chart, each.caption) for each in figures),
            table_of(answer.table) if answer.table else "",
        ),
        *kind.added_sections(audit, found),
        *_metrics(found),
        section("Price", *paragraphs(_paid(audit))),
        section("Assumptions", bullets([*answer.assumptions, *audit.release.rules])),
        section(
            "Verification",
            checks.signed(audit, found),
            checks.reproduce(found, selection, study=study),
            checks.ledger(audit.known_proof()),
            checks.receipt(audit),
        ),
    ]


def small(answer: Summary) -> str:
    """Return the sentence and the table as HTML for a notebook."""
    table = table_of(answer.table) if answer.table else ""
    return f"<p><strong>{escape(answer.sentence)}</strong></p>{table}"


def table_of(shown: PresentedTable) -> str:
    """Return a table in HTML."""
    return html_page.table(shown.caption, shown.heads, shown.rows, figures=True)


def _answer(answer: Summary) -> str:
    return (
        f'<div class="verdict {answer.verdict or "found"}">'
        f"<p><strong>{escape(answer.sentence)}</strong></p>"
        + "".join(paragraphs(answer.details))
        + "</div>"
    )


def _paid(audit: Result[Any]) -> list[str]:
    price = audit.release.price
    words = f"The audit cost {price.debit} ({price.currency}) of the auditor’s budget."
    mandate = audit.mandate
    if mandate:
        words += (
            f" Of the mandate “{mandate.purpose}”, {mandate.spent} had been spent since "
            f"it began and {mandate.remaining} remained when this report was written."
        )
    kinds = " and ".join(sorted({part.mechanism.replace("-", " ") for part in price.parts}))
    return [
        words,
        "Everything above was computed from numbers to which the platform added random "
        f"noise ({kinds}) before they left it. The guarantee is differential privacy: "
        "every result of these numbers is almost as likely with or without any one "
        "person.",
        both_relations(price),
        *noise_of_parts(price),
    ]


def _metrics(found: AuditFound) -> list[str]:
    """Return each metric in words, for the pair with the largest measured difference."""
    by_metric: dict[str, list[MetricFound]] = {}
    for one in found.metrics:
        by_metric.setdefault(name_of(one.metric, one.at), []).append(one)
    if not by_metric:
        return []
    rows = [(name, max(pairs, key=_apart).words) for name, pairs in by_metric.items()]
    several = any(len(pairs) > 1 for pairs in by_metric.values())
    said = measures_together(len(rows), found.delta, pairs=several)
    shown = html_page.table("", ("measure", "in words"), rows)
    pairs = _all_pairs(by_metric) if several else ""
    return [section("Other metrics", shown, *paragraphs([said]), pairs)]


def measures_together(measures: int, delta: float, *, pairs: bool) -> str:
    """Return the joint guarantee of the limits of different metrics."""
    pair = (
        " The table shows the pair of groups with the largest measured difference." if pairs else ""
    )
    return (
        "The limits of one metric hold for all pairs of groups at once with a "
        f"probability of at least {100 * (1 - delta):g} %. Metrics do not share this "
        f"probability: of many metrics, a few may miss ({measures} are shown).{pair} "
        "These metrics have no further privacy cost."
    )


def _apart(one: MetricFound) -> float:
    return math.inf if one.value is None else abs(one.value - one.fair)


def _all_pairs(by_metric: Mapping[str, Sequence[MetricFound]]) -> str:
    rows = [
        (
            name,
            f"{one.first} and {one.second}",
            "none" if one.value is None else f"{one.value:.3f}",
            "none" if one.low is None else round_down(one.low),
            "none" if one.high is None else round_up(one.high),
        )
        for name, pairs in by_metric.items()
        for one in pairs
    ]
    header = ("measure", "pair", "measured", "between", "and")
    figures = html_page.table("All pairs of groups", header, rows, figures=True)
    return f"<details><summary>All pairs of groups</summary>{figures}</details>"
