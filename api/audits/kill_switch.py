"""Stop switch of a live audit: from then on, an audit that explores shows nothing more to anybody.

Its worker learns of the stop before the next batch. The audit then fails as `stopped`, and nothing
is released. The charge stays whole, because data were read and people were shown things. Their loss
until then is private, and the declared worst case bounds it. An audit that has not begun is
cancelled and refunded. The person who decides to stop an audit must not look at people's rewards:
docs/explanation/threat-model.md.
"""

from sqlmodel import Session, select

from api.accounts import personal_text
from api.audits import cancellation
from api.db import AuditRow
from api.kernel.errors import ConflictError, NotFoundError
from api.kernel.settings import Settings
from api.ledger import append, lock
from openapi.resources import RECORDED_REQUEST, StopDraft
from privacy.ledger.statements import Statement


def stop(session: Session, draft: StopDraft, statement: Statement, settings: Settings) -> AuditRow:
    at = lock(session)
    query = select(AuditRow).where(AuditRow.id == draft.audit_id).with_for_update()
    row = session.exec(query).first()
    if row is None:
        raise NotFoundError(f"no audit {draft.audit_id}")
    _check(row)
    personal_text.store_texts(session, draft, row.id)
    append(session, "stop", {}, row.auditor_id, statement, at=at)
    if row.state == "charged":
        cancellation.give_back(session, at, row, settings)
    row.stopped = True
    session.add(row)
    return row


def _check(row: AuditRow) -> None:
    if not RECORDED_REQUEST.validate_json(row.request).exploration_loss:
        raise ConflictError(
            f"An audit of kind {row.kind} shows nothing to anybody, so there is nothing to stop.",
            state=row.state,
            case="nothing-shown",
        )
    if row.stopped or row.state not in ("charged", "running"):
        state = "stopped" if row.stopped else row.state
        raise ConflictError(f"The audit is already {state}.", state=row.state, case="ended-already")
