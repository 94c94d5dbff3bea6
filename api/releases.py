"""Releases: through the waist, signed, committed, and only then to be had."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from joserfc.jwk import OKPKey

from api.audits import KINDS, AudienceFacts
from api.contents import for_platform
from api.platform import Platform
from api.pricing import exact_price
from api.store import AudienceRow, AuditRow, ContentRow
from openapi.models import AuditRequest, Price, Release
from privacy import waist
from privacy.membership import Membership
from privacy.receipts import canonical, sign

RULES = (
    "Two identifiers that are one person count once.",
    "A person counts in at most {k} group(s), the first by label.",
    "People who matched nobody, or who are left out, are in no bin and in no size.",
    "A score that is not a number, or outside of all bins, counts as outside.",
    "Temporal context is the same for the whole audience; the model is a fixed input.",
)


def produce(
    audit: AuditRow,
    content: ContentRow,
    audience: AudienceRow,
    facts: AudienceFacts,
    membership: Membership,
    platform: Platform,
) -> dict[str, Any]:
    """Read, reduce, and pass the waist: what comes back is public, but for the fields unset."""
    kind = KINDS[audit.kind]
    request = AuditRequest.model_validate_json(audit.request)
    price = Price.model_validate_json(audit.price)
    question = kind.question(request, facts)
    tables = kind.reduce(request, question, for_platform(content), membership, platform)
    noisy = waist.release(question, tables, paid=exact_price(price))
    return {
        "audit_id": audit.id,
        "kind": audit.kind,
        "content_digest": content.digest,
        "audience_commitment": audience.commitment,
        "model_digest": platform.scores.model_digest if platform.scores else None,
        "price": price,
        "rules": [rule.format(k=facts.groups_per_person) for rule in RULES],
        **kind.present(request, facts, noisy),
    }


def signed(fields: Mapping[str, Any], at: datetime, key: OKPKey) -> bytes:
    """The release with its receipt, in the bytes that every reader gets."""
    statement = Release(**fields, released_at=at, receipt="").model_dump(
        mode="json", exclude={"receipt"}
    )
    return canonical(statement | {"receipt": sign(statement, key)})
