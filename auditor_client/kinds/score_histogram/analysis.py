"""From a verified release to what it says: gap, pairs, drivers, metrics, assumptions. Offline.

Nothing but the receipt is used, so whoever holds it computes the same numbers.
"""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from auditor_client.fairness.gap import FairnessGap
from auditor_client.fairness.metric_selection import Found, MetricSelection
from auditor_client.fairness.metrics.mixin import MetricsMixin
from auditor_client.fairness.metrics.parity import passes_four_fifths
from auditor_client.kinds.registry import KINDS, AnyResult
from auditor_client.kinds.score_histogram.narrative import explanation
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.local.saved_receipt import SavedReceipt
from auditor_client.reporting.metric_sentences import sentence
from auditor_client.reporting.results_document import (
    AssumptionFound,
    AuditFound,
    ConsistencyFound,
    ContentFound,
    DriverFound,
    Gap,
    GroupPeople,
    MetricFound,
    Results,
    finite,
)

# Of each pair of groups, so many bins are told apart; working out all of hundreds takes minutes.
DRIVERS = 5


def read_receipt(path: str | Path) -> AnyResult:
    """The audit of a receipt file, of whichever kind, verified against the keys in it."""
    return KINDS[SavedReceipt.load(path).release().kind].from_receipt(path)


def analyse(
    audit: AnyResult,
    *,
    alpha: float = 0.2,
    delta: float = 0.05,
    selection: MetricSelection | None = None,
    name: str | None = None,
    checked: bool = False,
) -> AuditFound:
    """All that the release says. `checked`: its place in the ledger was verified."""
    chosen = selection or MetricSelection()
    return AuditFound(
        name=name or audit.id,
        checked=checked,
        alpha=alpha,
        delta=delta,
        **_stated(audit),
        **(_of_histogram(audit, alpha, delta) if isinstance(audit, ScoreHistogramResult) else {}),
        metrics=_metrics(audit, chosen, delta) if isinstance(audit, MetricsMixin) else (),
        numbers={} if isinstance(audit, ScoreHistogramResult) else audit.numbers(),
    )


def results_of(found: Sequence[AuditFound], compared: ConsistencyFound | None = None) -> Results:
    return Results(audits=tuple(found), consistency=compared)


def _stated(audit: AnyResult) -> dict[str, Any]:
    """What the receipt states, as it is."""
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
            # Contents are shown whole or not at all: `SavedReceipt.check_contents`.
            for title, digest in zip_longest(titles, release.content_digests)
        ),
        "audience": release.audience_commitment,
        "model": release.model_digest,
        "entry": proof.number if proof else None,
        "debit": str(release.price.debit),
        "currency": release.price.currency,
    }


def _of_histogram(audit: ScoreHistogramResult, alpha: float, delta: float) -> dict[str, Any]:
    gap = audit.fairness_gap(delta)
    bins = audit.bin_names()
    return {
        "verdict": gap.verdict(alpha),
        "words": explanation(gap, alpha),
        "gap": _gap(gap, bins),
        "people": tuple(
            GroupPeople(group=name, people=round(group.size.estimate), known=group.size.kind)
            for name, group in audit.groups().items()
        ),
        "pairs": tuple(_gap(pair, bins) for pair in audit.pair_gaps(delta)),
        "drivers": tuple(
            DriverFound(
                first=driver.groups[0],
                second=driver.groups[1],
                scores=bins[driver.bin],
                value=driver.difference,
                low=driver.low,
                high=driver.high,
            )
            for driver in audit.drivers(delta, DRIVERS)
        ),
        "assumptions": tuple(
            AssumptionFound(name=one.name, holds=one.holds, words=one.words)
            # Theorem 1 has nothing to say of a gap of exactly zero.
            for one in (audit.assumptions(alpha, delta) if alpha > 0 else [])
        ),
    }


def _gap(gap: FairnessGap, bins: Sequence[str]) -> Gap:
    more, less = gap.groups
    return Gap(
        more=more,
        less=less,
        scores=bins[gap.bin],
        value=gap.efg,
        low=gap.low,
        high=gap.high,
        at_least=gap.at_least,
        at_most=gap.at_most,
    )


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
