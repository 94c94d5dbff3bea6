"""Hidden audiences: a number of identifiers, which are compared without being revealed.

Private set intersection finds, during a two-party run, which of the platform's own people are among
them. The platform learns nothing about the others. The auditor states the commitment. The people
whom a run finds belong to its charge (`api.accounting.charge.record_people`). The audience itself
stays empty, so that no other audit can read them.
"""

import numpy as np
from sqlmodel import Session

from api.accounting.memberships import HIDDEN
from api.audiences.sealing import close, keep_until
from api.audiences.uploads import load_groups, to_wire
from api.db import AudienceRow, GroupRow
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import AudienceTooLargeError, UnavailableSampleError
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import lock
from api.platforms.interfaces import Platform
from api.web.quotas import check_audiences
from openapi.resources import Audience, HiddenDraft
from privacy.tables.membership import Membership

LABEL = "g0"


def hide(
    session: Session, caller: Caller, draft: HiddenDraft, platform: Platform, settings: Settings
) -> Audience:
    """Create a hidden audience of this number of rows, sealed at once.

    The platform's side has its public size.
    """
    if platform.directory is None or settings.two_party_candidates is None:
        raise UnavailableSampleError(
            "This service does not support hidden audiences. Upload an audience instead."
        )
    if draft.rows > settings.max_members:
        raise AudienceTooLargeError(f"An audience may have at most {settings.max_members} members.")
    lock(session)
    check_audiences(session, caller.auditor, settings)
    audience = AudienceRow(
        id=new_id("audience"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        state="open",
        source=HIDDEN,
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
    groups, nobody = load_groups(session, audience.id), Membership((np.empty(0, np.int64),), 1)
    close(session, audience, groups, nobody, draft.commitment, settings, known=False)
    return to_wire(session, audience)
