"""Data of a quarter for the SDK's report and charts, from the same rows that the API shows."""

from datetime import datetime
from typing import TYPE_CHECKING

from sqlmodel import Session, col, select

from api.audits import charge_queries
from api.console.security.current_user import PageRequest
from api.db import AuditorRow, ChargeRow, EntryRow, ResearcherRow
from api.kernel.clock import now
from api.kernel.errors import InvalidRequestError, NotFoundError
from api.oversight import refusals
from api.oversight.flags import load_flags
from api.oversight.overview import build_overview
from api.oversight.time_range import TimeRange
from openapi.resources import Charge, Refusal

if TYPE_CHECKING:
    from auditor_client.oversight.client import Dossier
    from auditor_client.oversight.quarter import Quarter

_QUARTERS = 8


def quarter_of(text: str) -> "Quarter":
    """Return the requested quarter (default: the present one)."""
    from auditor_client.errors import InputError
    from auditor_client.oversight.quarter import Quarter

    try:
        return Quarter.parse(text) if text else _at(now())
    except InputError as error:
        raise InvalidRequestError(str(error)) from error


def recent_quarters() -> list[str]:
    """Return the present quarter and those before it."""
    from auditor_client.oversight.quarter import Quarter

    this = _at(now())
    counted = range(4 * this.year + this.number - 1, 0, -1)[:_QUARTERS]
    return [str(Quarter(each // 4, each % 4 + 1)) for each in counted]


def load_dossier(
    visit: PageRequest, session: Session, quarter: "Quarter", auditor_id: str | None
) -> "Dossier":
    from auditor_client.oversight.client import Dossier

    parts, period = visit.console.parts, TimeRange(quarter.since, quarter.until)
    found = build_overview(session, parts.settings, auditor_id)
    if auditor_id and not found.auditors:
        raise NotFoundError(f"There is no auditor {auditor_id}.")
    return Dossier(
        quarter=quarter,
        overview=found,
        charges=_charges(session, period, auditor_id),
        refusals=_refusals(session, period, auditor_id),
        flags=load_flags(session, period, auditor_id),
        names=load_names(session),
        url=parts.settings.issuer,
        auditor=found.auditors[0] if auditor_id else None,
    )


def load_names(session: Session) -> dict[str, str]:
    """Load the names of all researchers and auditors, by their ids."""
    people = session.exec(select(ResearcherRow.id, ResearcherRow.name)).all()
    return dict([*people, *session.exec(select(AuditorRow.id, AuditorRow.name)).all()])


def _at(instant: datetime) -> "Quarter":
    from auditor_client.oversight.quarter import Quarter

    return Quarter(instant.year, (instant.month + 2) // 3)


def _charges(session: Session, period: TimeRange, auditor_id: str | None) -> list[Charge]:
    query = select(ChargeRow).where(*period.holds(ChargeRow.charged_at))
    if auditor_id is not None:
        query = query.where(ChargeRow.auditor_id == auditor_id)
    rows = session.exec(query.order_by(col(ChargeRow.charged_at).desc()))
    return [charge_queries.to_wire(row) for row in rows]


def _refusals(session: Session, period: TimeRange, auditor_id: str | None) -> list[Refusal]:
    query = refusals.select_refusals(period, auditor_id).order_by(col(EntryRow.number).desc())
    return [refusals.to_wire(row) for row in session.exec(query)]
