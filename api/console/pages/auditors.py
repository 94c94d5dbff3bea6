"""Pages of auditors and their mandates: people, states, and spent budgets."""

from collections.abc import Sequence

from fastapi.responses import Response
from sqlmodel import Session, col, select

from api.accounts.service import auditor_to_wire, researcher_to_wire
from api.audits.charge_queries import list_charges
from api.console.rendering import pages
from api.console.security.current_user import RegulatorVisit
from api.db import AuditorRow, EntryRow, ResearcherRow
from api.kernel.clock import now
from api.kernel.errors import NotFoundError
from api.ledger import to_wire
from api.mandates.queries import get_mandate
from api.oversight.overview import build_overview
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery
from openapi.resources import Entry

router = pages()

# Kinds of ledger entries that change a mandate.
_LIFE = ("mandate", "decision", "mandate-change", "suspension", "resumption", "termination")


@router.get("/regulator/auditors")
def list_auditors(visit: RegulatorVisit, session: ReadDep) -> Response:
    """List all auditors with their mandates and remaining budgets."""
    found = build_overview(session, visit.console.parts.settings)
    return visit.page("regulator/auditors.html", found=found)


@router.get("/regulator/auditors/{auditor_id}")
def show_auditor(
    auditor_id: str, visit: RegulatorVisit, session: ReadDep, cursor: CursorQuery = None
) -> Response:
    """Show one auditor: its mandates, its people, its charges."""
    found = build_overview(session, visit.console.parts.settings, auditor_id)
    if not found.auditors:
        raise NotFoundError(f"There is no auditor {auditor_id}.")
    people = session.exec(
        select(ResearcherRow)
        .where(ResearcherRow.auditor_id == auditor_id)
        .order_by(col(ResearcherRow.id))
    )
    return visit.page(
        "regulator/auditor.html",
        auditor=found.auditors[0],
        people=[researcher_to_wire(row) for row in people],
        charges=list_charges(session, auditor_id, cursor=cursor, limit=25),
    )


@router.get("/regulator/mandates/{mandate_id}")
def show_mandate(mandate_id: str, visit: RegulatorVisit, session: ReadDep) -> Response:
    """Show one mandate: its terms, its burn-down by the SDK's own chart, and its history."""
    from auditor_client.budget.burn_down import burn_down
    from auditor_client.budget.charts import (  # Altair takes a second
        burn_down_chart,
        describe_panel,
    )

    mandate = get_mandate(session, mandate_id)
    spent = burn_down(mandate, _entries(session, mandate.auditor_id, ("charge", "refund")), now())
    return visit.page(
        "regulator/mandate.html",
        mandate=mandate,
        auditor=auditor_to_wire(session.get_one(AuditorRow, mandate.auditor_id)),
        people=_names(session, mandate.researcher_ids or ()),
        words=describe_panel(spent),
        chart=burn_down_chart([spent]).to_dict(),
        history=[
            entry
            for entry in _entries(session, mandate.auditor_id, _LIFE)
            if mandate_id in (entry.facts.get("mandate_id"), _named(entry))
        ],
    )


def _names(session: Session, researcher_ids: Sequence[str]) -> list[str]:
    query = select(ResearcherRow.name).where(col(ResearcherRow.id).in_(researcher_ids))
    return list(session.exec(query.order_by(col(ResearcherRow.id))))


def _named(entry: Entry) -> str | None:
    return entry.statement.body.get("mandate_id") if entry.statement else None


def _entries(session: Session, auditor_id: str, kinds: tuple[str, ...]) -> list[Entry]:
    query = select(EntryRow).where(EntryRow.auditor_id == auditor_id, col(EntryRow.kind).in_(kinds))
    return [to_wire(row) for row in session.exec(query.order_by(col(EntryRow.number)))]
