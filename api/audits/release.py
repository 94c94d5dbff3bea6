"""Releases: noised by the waist, signed, committed, and only then available.

`reduce` does everything that may fail because of the platform or the database. `draw` and
`sign_release` follow: from the call of the waist on, noise is drawn. They read nothing but their
arguments, and every error that they raise is final (`api.audits.queue.worker`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from joserfc.jwk import OKPKey

from api.accounting.prices import exact_price
from api.audits.job import AuditJob
from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kinds.context import AuditContext
from api.kinds.registry import KINDS
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Platform
from openapi.resources import RELEASE
from privacy import waist
from privacy.receipts import add_receipt
from privacy.tables.membership import Membership

RULES = (
    "Several identifiers of one person count as that one person.",
    "A person counts in at most {k} group(s), the first in the order of the labels.",
    "People whom no identifier matched are in no count. Neither are people for whom this audit"
    " would exceed the lifetime cap, which covers all audits of all auditors. Whether somebody is"
    " above the cap depends on their own history alone. A known size includes them.",
    "A noisy number beyond 2^53 - 1 or below -(2^53 - 1) is given as that limit.",
)


@dataclass(frozen=True)
class Reduced:
    """Tables that wait for their noise, and the statements of the release."""

    work: AuditJob
    plan: waist.ReleasePlan
    tables: Mapping[str, Any]
    stated: Mapping[str, Any]
    # The model of the release, if it is the current one; a log may be of an earlier model.
    scoring: str | None


def reduce(work: AuditJob, membership: Membership, context: AuditContext) -> Reduced:
    """Read and reduce. No noise is drawn here, so a failure may be tried again."""
    request, platform = work.request, context.platform
    kind = KINDS[request.kind]
    plan = kind.plan(request, work.facts)
    shown = [content.fields for content in work.contents]
    model = kind.model_digest(request, platform)
    tables = kind.reduce(request, plan, shown, membership, context)
    if kind.model_digest(request, platform) != model:
        raise PlatformDownError("the model changed during the reduction")
    stated, scoring = state(work, model, platform), scoring_model(model, platform)
    failpoints.hit(Failpoint.REDUCED)
    return Reduced(work, plan, tables, stated, scoring)


def draw(reduced: Reduced) -> dict[str, Any]:
    """Return all fields of the release except its time and its receipt, with fresh noise."""
    work = reduced.work
    paid = exact_price(work.price)
    released = waist.release(reduced.plan, reduced.tables, paid=paid)
    failpoints.hit(Failpoint.NOISED)
    return {**reduced.stated, **present(work, released)}


def state(work: AuditJob, model: str | None, platform: Platform) -> dict[str, Any]:
    """Return the statements of every release, for any kind and any noise."""
    request, facts = work.request, work.facts
    rules = (*RULES, *KINDS[request.kind].rules(request, platform))
    return {
        "audit_id": work.audit.id,
        "kind": request.kind,
        "content_digests": _digests(work),
        "audience_commitment": work.audience.commitment,
        "model_digest": model,
        "price": work.price,
        "rules": [rule.format(k=facts.groups_per_person) for rule in rules],
    }


def present(work: AuditJob, released: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the release that its kind adds."""
    request = work.request
    return KINDS[request.kind].present(request, work.facts, _digests(work), released)


def scoring_model(model: str | None, platform: Platform) -> str | None:
    """Return the model if it is the one that scores now."""
    scores = platform.scores
    return model if scores is not None and scores.model_digest == model else None


def _digests(work: AuditJob) -> list[str]:
    return [content.digest for content in work.contents]


def sign_release(fields: Mapping[str, Any], at: datetime, key: OKPKey) -> bytes:
    """Return the release with its receipt, in the bytes that every reader gets."""
    release = RELEASE.validate_python({**fields, "released_at": at, "receipt": ""})
    statement = release.model_dump(mode="json", exclude={"receipt"})
    return add_receipt(statement, key)
