"""Trial release of a kind: what follows its payment, on one small world.

A failure there would cost an auditor the charge, so it is found before a package is recorded.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from api.audits.pricing import price_plan
from api.kinds.protocol import AudienceFacts, PlatformKind
from api.platforms.interfaces import Platform
from privacy import receipts, waist

_DIGEST = "sha256:" + "0" * 64


def release_on_trial(
    kind: PlatformKind,
    request: Any,
    facts: AudienceFacts,
    tables: Mapping[str, Any],
    platform: Platform,
) -> None:
    """Build and encode a release; raise if the kind cannot make one."""
    half = kind.half
    plan = half.plan(request, facts)
    held = half.held_bytes(request, facts)
    if not isinstance(held, int) or held < 0:
        raise TypeError(f"held_bytes returned {held!r}, not a number of bytes")
    released = waist.release(plan, tables, paid=waist.price(plan))
    digests = [_DIGEST for _ in request.content_ids]
    stated = {
        "audit_id": "audit_" + "0" * 30,
        "kind": kind.contract.name,
        "content_digests": digests,
        "audience_commitment": _DIGEST,
        "model_digest": half.model_digest(request, platform),
        "price": price_plan(plan, "rho", Decimal(0), ()),
        "rules": list(half.rules(request, platform)),
        "released_at": datetime.now(UTC),
        "receipt": "",
        **half.present(request, facts, digests, released),
    }
    made = kind.contract.release.model_validate(stated)
    receipts.canonical(made.model_dump(mode="json"))
