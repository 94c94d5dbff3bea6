"""Page of running audits on which a regulator may have to act.

Audits that show people something can be stopped. Two-party runs may wait to be opened.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fastapi.responses import Response
from sqlmodel import Session, col, select

from api.console.rendering import pages
from api.console.security.current_user import RegulatorVisit
from api.db import AuditorRow, AuditRow, ChargeRow
from api.db.types import as_decimal
from api.web.dependencies import ReadDep
from openapi.resources import StoredRun

router = pages()


@dataclass(frozen=True)
class Exploring:
    """An audit that is not finished; `loss` is the declared worst case, in units of reward."""

    audit_id: str
    auditor_id: str
    organisation: str
    state: str
    stopped: bool
    submitted_at: datetime
    loss: Decimal


@router.get("/regulator/running")
def show_running(visit: RegulatorVisit, session: ReadDep) -> Response:
    """Show both lists, without any progress, which is private."""
    return visit.page(
        "regulator/running.html",
        exploring=list_exploring(session),
        runs=_waiting(session),
    )


def _waiting(session: Session) -> list[StoredRun]:
    try:
        from api.two_party import openings
    except ImportError:  # without the extra `two-party` there are no runs
        return []
    return openings.list_waiting_runs(session)


def list_exploring(session: Session) -> list[Exploring]:
    """Return the audits that explore, the oldest first."""
    query = (
        select(AuditRow, ChargeRow, AuditorRow)
        .join(ChargeRow, col(ChargeRow.audit_id) == col(AuditRow.id))
        .join(AuditorRow, col(AuditorRow.id) == col(AuditRow.auditor_id))
        .where(col(AuditRow.state).in_(("charged", "running")), col(ChargeRow.exploration_loss) > 0)
        .order_by(col(AuditRow.id))
    )
    return [
        Exploring(
            audit_id=audit.id,
            auditor_id=auditor.id,
            organisation=auditor.name,
            state=audit.state,
            stopped=audit.stopped,
            submitted_at=audit.submitted_at,
            loss=as_decimal(charge.exploration_loss),
        )
        for audit, charge, auditor in session.exec(query)
    ]
