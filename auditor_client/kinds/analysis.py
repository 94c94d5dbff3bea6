"""Analysis of verified releases of every kind: verdict, gap, pairs, metrics, assumptions. Offline.

Only the receipt is used, so that every reader of it computes the same numbers.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeGuard

from auditor_client.fairness.metric_selection import Found, MetricSelection
from auditor_client.fairness.metrics.mixin import MetricsMixin
from auditor_client.fairness.metrics.parity import passes_four_fifths
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.registry import auditor_kind, kind_of
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.reporting.metric_sentences import sentence
from auditor_client.reporting.results_document import (
    AuditFound,
    ConsistencyFound,
    ContentFound,
    MetricFound,
    Results,
    finite,
)


def read_receipt(path: str | Path) -> Any:
    """Return the audit of a receipt file of any kind, verified against the keys in it."""
    return auditor_kind(SavedReceipt.load(path).release().kind).result.from_receipt(path)


def analyse(
    audit: Result[Any],
    *,
    alpha: float | None = None,
    delta: float = 0.05,
    selection: MetricSelection | None = None,
    name: str | None = None,
    checked: bool = False,
) -> AuditFound:
    """Return the analysis of a release. `checked`: its ledger entry was verified.

    Default alpha: the tolerance of the kind.
    """
    kind, chosen = kind_of(audit), selection or MetricSelection()
    judged = kind.judgement(alpha, delta)
    answer = kind.answer(audit, judged)
    fields: dict[str, Any] = {
        "verdict": answer.verdict,
        "sentence": answer.sentence,
        "words": " ".join(answer.details),
        "numbers": audit.numbers(),
        **kind.added_fields(audit, judged),
    }
    return AuditFound(
        name=name or audit.id,
        checked=checked,
        alpha=judged.alpha,
        delta=delta,
        **_stated(audit),
        metrics=_metrics(audit, chosen, delta) if _has_metrics(audit) else (),
        **fields,
    )


def results_of(found: Sequence[AuditFound], compared: ConsistencyFound | None = None) -> Results:
    """Return the results document of several audits."""
    return Results(audits=tuple(found), consistency=compared)


def _stated(audit: Result[Any]) -> dict[str, Any]:
    """Return the receipt's statement, unchanged."""
    release = audit.release
    titles: list[str | None] = [content.title for content in audit.contents]
    proof = audit.known_proof()
    return {
        "audit": release.audit_id,
        "kind": release.kind,
        "released_at": release.released_at,
        "service": audit.url,
        "contents": tuple(
            ContentFound(title=title, digest=digest)
            # Contents are shown only after a check of their bytes: `SavedReceipt.check_contents`.
            for title, digest in zip_longest(titles, release.content_digests)
        ),
        "audience": release.audience_commitment,
        "model": release.model_digest,
        "entry": proof.number if proof else None,
        "debit": str(release.price.debit),
        "currency": release.price.currency,
    }


def _has_metrics(audit: Result[Any]) -> TypeGuard[MetricsMixin]:
    return isinstance(audit, MetricsMixin) and not kind_of(audit).lacks_groups(audit)


def _metrics(
    audit: MetricsMixin, selection: MetricSelection, delta: float
) -> tuple[MetricFound, ...]:
    return tuple(_metric(found) for found in selection.of(audit, delta))


def _metric(found: Found) -> MetricFound:
    metric, at, estimate = found
    first, second = estimate.groups
    rule = passes_four_fifths(estimate) if metric == "impact-ratio" else None
    return MetricFound.model_validate(
        {
            "metric": metric,
            "at": at,
            "first": first,
            "second": second,
            "value": finite(estimate.value),
            "low": finite(estimate.low),
            "high": finite(estimate.high),
            "fair": estimate.fair,
            "rounding": estimate.rounding,
            "four_fifths": rule,
            "words": sentence(metric, at, estimate),
        }
    )
