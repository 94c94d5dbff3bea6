"""Audiences that the platform does not see: so many identifiers, compared without being shown.

Private set intersection finds, during a two-party run, which of the platform's own people are among
them; nobody who is not on the platform is shown to it. The commitment is the auditor's own word.
Whom a run found is written down as the audience's people, so that they bear the audit like others.
"""

import numpy as np
from sqlmodel import Session, col, delete, select

from api import charging, persons
from api.audiences.sealing import close, keep_until
from api.audiences.uploads import groups_of, view
from api.auth.caller import Caller
from api.clock import now
from api.errors import AudienceTooLargeError, UnavailableSampleError
from api.ids import new_id
from api.ledger import lock
from api.persons import Burden
from api.platform import Persons, Platform
from api.settings import Settings
from api.store import AudienceRow, AuditRow, ChargeRow, ExclusionRow, GroupRow
from openapi.models import Audience, HiddenDraft
from privacy.membership import Membership

SOURCE = "hidden"
LABEL = "g0"


def hide(
    session: Session, caller: Caller, draft: HiddenDraft, platform: Platform, settings: Settings
) -> Audience:
    """An audience of so many rows, sealed at once. The platform's side has its public size."""
    if platform.directory is None or settings.two_party_candidates is None:
        raise UnavailableSampleError("this service compares no hidden audiences: upload one")
    if draft.rows > settings.max_members:
        raise AudienceTooLargeError(f"an audience may have {settings.max_members} members")
    lock(session)
    audience = AudienceRow(
        id=new_id("audience"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        state="open",
        source=SOURCE,
        groups_per_person=1,
        ordered=True,
        identifiers=draft.identifiers,
        candidates=settings.two_party_candidates,
        created_at=now(),
        expires_at=keep_until(now(), settings),
    )
    session.add(audience)
    session.flush()
    session.add(GroupRow(audience_id=audience.id, label=LABEL, members=draft.rows))
    session.flush()
    groups, nobody = groups_of(session, audience.id), Membership((np.empty(0, np.int64),), 1)
    close(session, audience, groups, nobody, draft.commitment, settings, known=False)
    return view(session, audience)


def bear(
    session: Session, audit: AuditRow, audience: AudienceRow, found: Persons, settings: Settings
) -> Membership:
    """Charge whom a run found, in place of whom an earlier run did; who bears the audit.

    The books are locked. Nothing was read of whom the earlier run found.
    """
    rho = session.exec(select(ChargeRow).where(ChargeRow.audit_id == audit.id)).one().rho
    [group] = groups_of(session, audience.id)
    earlier = charging.bearers(session, audit.id, audience)
    persons.refund(session, Burden(earlier, rho, group.members))
    session.exec(delete(ExclusionRow).where(col(ExclusionRow.audit_id) == audit.id))
    group.people = np.sort(found).astype("<i8").tobytes()
    session.add(group)
    session.flush()
    charging.charge_people(session, [(audit, audience, rho)], settings)
    session.flush()
    return charging.bearers(session, audit.id, audience)
