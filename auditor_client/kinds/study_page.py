"""Report of a whole study: one HTML file with all its audits."""

from collections.abc import Mapping
from html import escape
from typing import Any

from auditor_client.fairness.metric_selection import MetricSelection
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.report_page import body, heading
from auditor_client.kinds.score_histogram import narrative
from auditor_client.reporting.html_page import article, page, paragraphs, section, table
from auditor_client.reporting.results_document import (
    AuditFound,
    ConsistencyFound,
    Results,
    StudyFound,
)


def render_study(
    audits: Mapping[str, Result[Any]],
    results: Results,
    study: StudyFound,
    selection: MetricSelection,
) -> str:
    """Return the page of a study; `results` are those of `audits`, in their order."""
    verdicts = sum(one.gap is not None for one in results.audits)
    parts = [
        f"<h1>{escape(study.title)}</h1>",
        *paragraphs(filter(None, [study.question])),
        table("The study’s audits", ("audit", "kind", "answer"), map(_summary, results.audits)),
        *paragraphs([narrative.joint_guarantee(study, verdicts)]),
        section("Registration", *paragraphs([narrative.registration(study)]), _digest(study)),
        *_compared(results.consistency),
    ]
    for found in results.audits:
        audit = audits[found.name]
        title = heading(audit, audit.summary(found.alpha, found.delta))
        shown = title if found.gap else f"{found.name}: {title}"
        sections = body(audit, found, selection, study=True)
        parts.append(article(f"<h1>{escape(shown)}</h1>", *sections))
    return page(study.title, parts)


def _summary(found: AuditFound) -> tuple[str, str, str]:
    return found.name, found.kind, found.sentence


def _digest(study: StudyFound) -> str:
    return table("", ("", ""), [("digest of the study’s file", study.digest)])


def _compared(found: ConsistencyFound | None) -> list[str]:
    if found is None:
        return []
    names = f"Compared as {found.relation}: {', '.join(found.audits)}."
    return [section("Can one model have made these releases?", *paragraphs([found.words, names]))]
