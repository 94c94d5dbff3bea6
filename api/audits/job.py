"""Job of a worker: the request, its contents, and the people that it may read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from api.accounting.memberships import HIDDEN, OF_THE_GROUP, select_charged_members
from api.accounting.people_digest import UnboundPeopleError, is_bound
from api.audiences.uploads import SIZES
from api.audits.pricing import audience_facts
from api.contents.service import StoredContent, load_contents
from api.db import AudienceRow, AuditRow, ChargeRow, ExclusionRow, GroupRow
from api.kernel.settings import Settings
from api.kinds.registry import AudienceFacts
from openapi.resources import REQUEST, Price
from privacy.tables.membership import Membership

# The audience of an audit with each of its groups: public facts, people, dropped people, and the
# digest of the people that the charge debits.
_AUDIENCE = (
    select(
        AudienceRow,
        *SIZES,
        col(GroupRow.people),
        col(ExclusionRow.able),
        col(ChargeRow.people_digest),
    )
    .join(GroupRow, col(GroupRow.audience_id) == col(AudienceRow.id))
    .join(ChargeRow, col(ChargeRow.audit_id) == bindparam("audit"))
    .outerjoin(ExclusionRow, OF_THE_GROUP)
    .where(col(AudienceRow.id) == bindparam("audience"))
)


@dataclass(frozen=True)
class AuditJob:
    """A charged audit, with the public facts of its audience and its contents."""

    audit: AuditRow
    request: Any  # of the audit's kind
    price: Price
    contents: Sequence[StoredContent]
    audience: AudienceRow
    facts: AudienceFacts


def load_job(session: Session, audit: AuditRow, settings: Settings) -> tuple[AuditJob, Membership]:
    """Return the job, and the people that its charge debits.

    Raise `UnboundPeopleError` if the audience's people are not exactly those (R4).
    """
    request, price = REQUEST.validate_json(audit.request), Price.model_validate_json(audit.price)
    contents = load_contents(session, request.content_ids)
    # One query reads the people and the exclusions, so that neither can change in between.
    asked = {"audit": audit.id, "audience": audit.audience_id}
    groups = session.execute(_AUDIENCE, asked).all()
    if not groups:  # no charge, no people
        raise UnboundPeopleError
    audience = groups[0].AudienceRow
    facts = audience_facts(session, audience, groups)
    people, digest = select_charged_members(audience, groups), groups[0].people_digest
    known = audience.source != HIDDEN
    if not known or not is_bound(digest, audit.id, people, facts.members, settings):
        raise UnboundPeopleError
    return AuditJob(audit, request, price, contents, audience, facts), people
