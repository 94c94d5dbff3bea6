"""What a worker is given for an audit: what is asked, about what, and who bears it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from api.audiences.uploads import SIZES
from api.audits import AudienceFacts
from api.charging import OF_THE_GROUP, bearing
from api.contents import Shown, shown
from api.pricing import facts_from
from api.store import AudienceRow, AuditRow, ExclusionRow, GroupRow
from openapi.models import REQUEST, Price
from privacy.membership import Membership

# The audience of an audit beside each of its groups: public facts, people, and who is left out.
_AUDIENCE = (
    select(
        AudienceRow,
        *SIZES,
        col(GroupRow.people),
        col(ExclusionRow.able),
    )
    .join(GroupRow, col(GroupRow.audience_id) == col(AudienceRow.id))
    .outerjoin(ExclusionRow, OF_THE_GROUP)
    .where(col(AudienceRow.id) == bindparam("audience"))
)


@dataclass(frozen=True)
class Work:
    """A charged audit, and what is public of it and of what it is about."""

    audit: AuditRow
    request: Any  # of the audit's kind
    price: Price
    contents: Sequence[Shown]
    audience: AudienceRow
    facts: AudienceFacts


def read(session: Session, audit: AuditRow) -> tuple[Work, Membership]:
    """The work, and the people who bear it."""
    request, price = REQUEST.validate_json(audit.request), Price.model_validate_json(audit.price)
    contents = shown(session, request.content_ids)
    # One question: nothing can come between whom the audience has and who of them is left out.
    asked = {"audit": audit.id, "audience": audit.audience_id}
    groups = session.execute(_AUDIENCE, asked).all()
    audience = groups[0].AudienceRow
    facts = facts_from(session, audience, groups)
    return Work(audit, request, price, contents, audience, facts), bearing(audience, groups)
