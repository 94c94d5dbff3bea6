"""Pricing of requests: load their subject, and price or refuse them. Nothing is charged here."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlmodel import Session

from api.audiences import uploads
from api.audits import memory_limits, noise_limits
from api.audits.pricing import audience_facts, price_plan
from api.contents import service as contents
from api.db import AudienceRow
from api.identity.caller import Caller
from api.kernel.errors import (
    AudienceNotSealedError,
    UnsupportedAudienceError,
    UnsupportedAuditError,
)
from api.kernel.settings import Settings
from api.kinds.protocol import KNOWN_AT_CHARGE
from api.kinds.registry import KINDS, AudienceFacts, Kind, is_third_party
from api.platforms.interfaces import Platform
from openapi.resources import Price
from privacy import waist
from privacy.plans import assumptions
from privacy.tables.price import ExactPrice


@dataclass(frozen=True)
class AuditSubject:
    """Subject of a request: contents by their digests, and a sealed audience.

    It is cached and shared, so it may be out of date. Only the columns that sealing has fixed are
    reliable: id, source, commitment, groups_per_person. Whether the audience has ended or was taken
    since is checked under the lock.
    """

    digests: Sequence[str]
    audience: AudienceRow
    facts: AudienceFacts


@dataclass(frozen=True)
class PricedRequest:
    """A request that can be run: its subject, its plan and its price."""

    subject: AuditSubject
    plan: waist.ReleasePlan
    price: ExactPrice
    shown: Price  # in rho, in which every request has a price


def resolve(
    session: Session, caller: Caller, request: Any, platform: Platform, settings: Settings
) -> PricedRequest:
    """Return the priced request, or refuse it."""
    subject = load_subject(session, caller.auditor, request.content_ids, request.audience_id)
    return price_request(subject, request, platform, settings)


def load_subject(
    session: Session, auditor_id: str, content_ids: Sequence[str], audience_id: str
) -> AuditSubject:
    """Return the subject of a request, which the auditor must own."""
    digests = contents.load_digests(session, auditor_id, content_ids)
    audience, groups = uploads.get_owned_with_groups(session, auditor_id, audience_id)
    if audience.state != "sealed":
        raise AudienceNotSealedError(
            f"The audience is {audience.state}. Nothing was charged. Seal the audience first."
        )
    return AuditSubject(digests, audience, audience_facts(session, audience, groups))


def price_request(
    subject: AuditSubject, request: Any, platform: Platform, settings: Settings
) -> PricedRequest:
    """Return the priced request, or refuse it for this subject."""
    kind, facts = KINDS[request.kind], subject.facts
    if is_third_party(request.kind) and request.exploration_loss:
        raise UnsupportedAuditError(
            f"Kind {request.kind} comes from a package, and no package may show people anything."
            " Nothing was charged."
        )
    _refuse_source(request.kind, kind, facts)
    kind.check(request, facts, platform)
    plan = kind.plan(request, facts)
    memory_limits.refuse_too_large(kind, request, facts, plan, settings)
    noise_limits.refuse_overflow(kind, plan, facts)
    price = waist.price(plan) + ExactPrice.exploration(Fraction(request.exploration_loss))
    named = request.model_dump(mode="json", include={"kind": True, "metric": {"name"}})
    third_party = is_third_party(request.kind)
    assumes = assumptions(named, fixed_slots=facts.fixed_slots, third_party=third_party)
    shown = price_plan(plan, "rho", request.exploration_loss, tuple(assumes))
    return PricedRequest(subject, plan, price, shown)


def _refuse_source(name: str, kind: Kind, facts: AudienceFacts) -> None:
    """Refuse an audience whose people this kind cannot debit before it reads them (R4)."""
    supported = sorted(kind.sources & KNOWN_AT_CHARGE if is_third_party(name) else kind.sources)
    if facts.source not in supported:
        raise UnsupportedAudienceError(
            f"A {name} audit does not take an audience whose source is {facts.source!r}. Nothing"
            f" was charged. Sources that it takes: {', '.join(supported)}.",
            source=facts.source,
            supported=supported,
        )
