"""What a request is about, read and priced, or why it cannot be asked. Nothing is charged here."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlmodel import Session

from api import contents, memory
from api.audiences import uploads
from api.audits import KINDS, AudienceFacts
from api.auth.caller import Caller
from api.errors import AudienceNotSealedError
from api.platform import Platform
from api.pricing import facts_from, price_of
from api.settings import Settings
from api.store import AudienceRow
from openapi.models import Price
from privacy import waist
from privacy.price import Price as ExactPrice


@dataclass(frozen=True)
class Asked:
    """A request that can be asked: what it is about, and the question it comes to."""

    digests: list[str]  # of the contents
    audience: AudienceRow
    facts: AudienceFacts
    question: waist.Question
    price: ExactPrice
    shown: Price  # in rho, which everything has


def ask(
    session: Session, caller: Caller, request: Any, platform: Platform, settings: Settings
) -> Asked:
    """What the request is about, or why it cannot be asked."""
    kind = KINDS[request.kind]
    digests = contents.digests(session, caller, request.content_ids)
    audience, groups = uploads.owned_grouped(session, caller, request.audience_id)
    if audience.state != "sealed":
        raise AudienceNotSealedError(
            f"the audience is {audience.state}: seal it first. Nothing was charged."
        )
    facts = facts_from(session, audience, groups)
    kind.check(request, facts, platform)
    question = kind.question(request, facts)
    memory.refuse_too_large(kind, request, facts, question, settings)
    price = waist.price(question) + ExactPrice.exploration(Fraction(request.exploration_loss))
    shown = price_of(question, "rho", request.exploration_loss, request.assumes)
    return Asked(digests, audience, facts, question, price, shown)
