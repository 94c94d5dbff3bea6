"""Decisions of the regulator, and the platform's later requests."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlmodel import Session

from api.db import ApplicationRow, AuditorRow, ResearcherRow
from api.identity.caller import Caller
from api.kernel.errors import ConflictError, InvalidRequestError
from api.kernel.ids import new_id
from api.ledger import lock
from api.mandates import service as mandates
from api.vetting import individuals
from api.vetting.applications import (
    change_state,
    keep_texts,
    lock_application,
    lock_application_of,
    record,
)
from api.vetting.calendar import Calendar
from api.vetting.views import load_stated_body
from openapi.resources import AmendmentDraft, DecisionDraft, MandateLimits, MediationDraft
from privacy.ledger.statements import Statement
from privacy.receipts import canonical, digest

_LATEST_YEAR = 9_000


def decide(
    session: Session, draft: DecisionDraft, statement: Statement, calendar: Calendar
) -> ApplicationRow:
    """Decide on the version that the regulator has read."""
    at = lock(session)
    row = lock_application(session, draft.application_id)
    if draft.version != row.version:
        raise ConflictError(
            f"The application now has version {row.version}. Read it before you decide.",
            version=row.version,
            case="newer-version",
        )
    if draft.mandate and draft.application_digest != digest(
        canonical(load_stated_body(session, row))
    ):
        raise ConflictError("The application does not match your application_digest.")
    change_state(row, draft.decision, "regulator", at, calendar)
    if draft.until is not None:
        row.due = _later(row, draft, calendar)
    facts = _grant(session, row, draft.mandate, statement.by, at) if draft.mandate else {}
    keep_texts(session, row, draft)
    record(session, row, "decision", facts, statement, at)
    return row


def ask_amendment(
    session: Session,
    caller: Caller,
    draft: AmendmentDraft,
    statement: Statement,
    calendar: Calendar,
) -> ApplicationRow:
    """Record that the platform requests an amendment, within its period."""
    at = lock(session)
    row = lock_application_of(session, caller, draft.application_id)
    change_state(row, "ask-amendment", "operator", at, calendar)
    keep_texts(session, row, draft)
    record(session, row, "amendment", {}, statement, at)
    return row


def mediate(
    session: Session,
    caller: Caller,
    draft: MediationDraft,
    statement: Statement,
    calendar: Calendar,
) -> ApplicationRow:
    """Record a step of the mediation, by the platform or by the regulator."""
    at = lock(session)
    row = lock_application_of(session, caller, draft.application_id)
    change_state(row, draft.outcome, caller.role, at, calendar, draft.days or 0)
    keep_texts(session, row, draft)
    record(session, row, "mediation", {}, statement, at)
    return row


def _later(row: ApplicationRow, draft: DecisionDraft, calendar: Calendar) -> datetime:
    if draft.until is None or draft.until.year > _LATEST_YEAR:
        raise InvalidRequestError(
            f"`until` must be before the year {_LATEST_YEAR + 1}.", case="too-far"
        )
    due = calendar.end_of(draft.until)
    if row.due is not None and due <= row.due:
        raise InvalidRequestError(
            f"`until` must be later than the deadline, the {calendar.end_in_words(row.due)}.",
            case="before-the-deadline",
        )
    return due


def _grant(
    session: Session, row: ApplicationRow, limits: MandateLimits, by: str, at: datetime
) -> dict[str, object]:
    """Make the individuals researchers, and create their mandate, in one transaction."""
    wanted = load_stated_body(session, row)
    _refuse_more_than_asked(wanted, limits)
    people = individuals.load_individuals(session, row.id)
    if not {each.id for each in people}.issuperset(limits.researcher_ids or ()):
        raise InvalidRequestError(
            "researcher_ids must be individuals of the application.", case="not-an-individual"
        )
    if row.auditor_id is None:
        row.auditor_id = _organisation(session, row, wanted, at)
    individuals.promote(session, people, row.auditor_id)
    mandate = mandates.create(session, row.auditor_id, limits, by)
    session.flush()
    row.mandate_id = mandate.id
    return {
        "auditor_id": row.auditor_id,
        "mandate_id": mandate.id,
        "individuals": individuals.state_individuals(people),
    }


def _organisation(
    session: Session, row: ApplicationRow, wanted: Mapping[str, Any], at: datetime
) -> str:
    """Return the principal's auditor, or create one."""
    principal = session.get_one(ResearcherRow, row.principal_id)
    if principal.auditor_id is not None:
        return principal.auditor_id
    auditor = AuditorRow(id=new_id("auditor"), name=wanted["organisation"], created_at=at)
    session.add(auditor)
    session.flush()
    return auditor.id


def _refuse_more_than_asked(wanted: Mapping[str, Any], limits: MandateLimits) -> None:
    """Refuse a grant beyond the application: a regulator may narrow it, never widen it."""
    mandates.check_dates(limits.valid_from, limits.valid_until)
    name = "epsilon_limit" if wanted["rho_limit"] is None else "rho_limit"
    granted, limit = getattr(limits, name), Decimal(wanted[name])
    lifetime = Decimal(wanted["lifetime_limit"] or wanted[name])
    if granted is None:
        raise InvalidRequestError(
            f"The application requests {name}: grant a limit in that currency."
        )
    wider = {
        "kinds": not set(wanted["kinds"]).issuperset(limits.kinds),
        name: granted > limit,
        "lifetime_limit": (limits.lifetime_limit or granted) > lifetime,
        "exploration_limit": limits.exploration_limit > Decimal(wanted.get("exploration_limit", 0)),
        "valid_from": limits.valid_from < datetime.fromisoformat(wanted["valid_from"]),
        "valid_until": limits.valid_until > datetime.fromisoformat(wanted["valid_until"]),
    }
    if more := [field for field, is_more in wider.items() if is_more]:
        raise InvalidRequestError(
            f"The grant exceeds the application in: {', '.join(more)}.", case="more-than-asked"
        )
