"""Auditors and their mandates: who, which, in what state, how much of it is spent."""

from collections.abc import Sequence

from fastapi.responses import Response
from sqlmodel import Session, col, select

from api.accounts import service as accounts
from api.console.rendering import pages
from api.console.security.current_user import RegulatorVisit
from api.db import AuditorRow, EntryRow, MandateRow, ResearcherRow
from api.kernel.clock import now
from api.kernel.errors import NotFoundError
from api.ledger import view
from api.mandates import regulator_routes
from api.mandates import service as mandates
from api.oversight import routes as insight
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery
from openapi.resources import Entry

router = pages()

# What becomes of a mandate, as the ledger has it.
_LIFE = ("mandate", "decision", "mandate-change", "suspension", "resumption", "termination")


@router.get("/regulator/auditors")
def list_auditors(visit: RegulatorVisit, session: ReadDep) -> Response:
    """Everybody who may audit, what they were granted, and what is left of it."""
    found = insight.get_overview(visit.caller, session, visit.console.parts.settings)
    return visit.page("regulator/auditors.html", found=found)


@router.get("/regulator/auditors/{auditor_id}")
def show_auditor(
    auditor_id: str, visit: RegulatorVisit, session: ReadDep, cursor: CursorQuery = None
) -> Response:
    """One auditor: its mandates, its people, what it was charged."""
    found = insight.get_overview(visit.caller, session, visit.console.parts.settings, auditor_id)
    if not found.auditors:
        raise NotFoundError(f"no auditor {auditor_id}")
    people = session.exec(
        select(ResearcherRow)
        .where(ResearcherRow.auditor_id == auditor_id)
        .order_by(col(ResearcherRow.id))
    )
    return visit.page(
        "regulator/auditor.html",
        auditor=found.auditors[0],
        people=[accounts.researcher_view(row) for row in people],
        charges=regulator_routes.list_charges(visit.caller, session, auditor_id, None, cursor, 25),
    )


@router.get("/regulator/mandates/{mandate_id}")
def show_mandate(mandate_id: str, visit: RegulatorVisit, session: ReadDep) -> Response:
    """One mandate: what it allows, its burn-down by the SDK's own chart, and its history."""
    from auditor_client.budget.burn_down import burn_down
    from auditor_client.budget.charts import burn_down_chart, words  # Altair takes a second

    row = session.get(MandateRow, mandate_id)
    if row is None:
        raise NotFoundError(f"no mandate {mandate_id}")
    mandate = mandates.view(session, row)
    spent = burn_down(mandate, _entries(session, row.auditor_id, ("charge", "refund")), now())
    return visit.page(
        "regulator/mandate.html",
        mandate=mandate,
        auditor=accounts.auditor_view(session.get_one(AuditorRow, row.auditor_id)),
        people=_names(session, mandate.researcher_ids or ()),
        words=words(spent),
        chart=burn_down_chart([spent]).to_dict(),
        history=[
            entry
            for entry in _entries(session, row.auditor_id, _LIFE)
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
    return [view(row) for row in session.exec(query.order_by(col(EntryRow.number)))]
