"""Releases: through the waist, signed, committed, and only then to be had."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from joserfc.jwk import OKPKey

from api import boundaries
from api.adapters import PlatformDownError
from api.audits import KINDS
from api.boundaries import Boundary
from api.platform import Platform
from api.pricing import exact_price
from api.work import Work
from openapi.models import RELEASE
from privacy import waist
from privacy.membership import Membership
from privacy.receipts import receipted

RULES = (
    "Two identifiers that are one person count once.",
    "A person counts in at most {k} group(s), the first by label.",
    "People who matched nobody are in no count. So are people who have borne, over all audits of "
    "all auditors, what one person may bear in a lifetime: that depends on their own history "
    "alone, and a known size includes them.",
)


def produce(work: Work, membership: Membership, platform: Platform) -> dict[str, Any]:
    """Read, reduce, and pass the waist: what comes back is public."""
    request = work.request
    kind = KINDS[request.kind]
    question = kind.question(request, work.facts)
    shown = [content.fields for content in work.contents]
    model = kind.model_digest(request, platform)
    tables = kind.reduce(request, question, shown, membership, platform)
    if kind.model_digest(request, platform) != model:
        raise PlatformDownError("the model changed while it was read")
    boundaries.reached(Boundary.REDUCED)
    released = waist.release(question, tables, paid=exact_price(work.price))
    boundaries.reached(Boundary.NOISED)
    return described(work, model, released, platform)


def described(
    work: Work, model: str | None, released: Mapping[str, Any], platform: Platform
) -> dict[str, Any]:
    """All fields of the release but its time and its receipt."""
    request, facts = work.request, work.facts
    kind, digests = KINDS[request.kind], [content.digest for content in work.contents]
    rules = (*RULES, *kind.rules(request, platform))
    return {
        "audit_id": work.audit.id,
        "kind": request.kind,
        "content_digests": digests,
        "audience_commitment": work.audience.commitment,
        "model_digest": model,
        "price": work.price,
        "rules": [rule.format(k=facts.groups_per_person) for rule in rules],
        **kind.present(request, facts, digests, released),
    }


def signed(fields: Mapping[str, Any], at: datetime, key: OKPKey) -> bytes:
    """The release with its receipt, in the bytes that every reader gets."""
    release = RELEASE.validate_python({**fields, "released_at": at, "receipt": ""})
    statement = release.model_dump(mode="json", exclude={"receipt"})
    return receipted(statement, key)
