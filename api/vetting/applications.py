"""Applications: submitted, answered and withdrawn by the applicant.

An application is signed by the principal applicant's own key, which it contains: applicants need no
account. `by` is `applicant:` and the key's thumbprint.
"""

from datetime import datetime

from pydantic import BaseModel
from sqlmodel import Session, select

from api.accounts import personal_text
from api.db import ApplicationEventRow, ApplicationRow, EntryRow, IndividualRow, ResearcherRow
from api.identity.caller import Caller
from api.identity.key_policy import import_public_jwk
from api.kernel.errors import ConflictError, ForbiddenError, NotFoundError
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import append, lock
from api.ledger.signed_requests import check, stated_body
from api.ledger.visibility import HIDDEN_FROM_OPERATORS
from api.mandates.service import check_dates
from api.vetting import individuals, newcomers
from api.vetting.calendar import Calendar
from api.vetting.state_machine import CHANGES, DECISION_WORKING_DAYS, PERIODS
from openapi.resources import ApplicationDraft, Role, WithdrawalDraft
from privacy.ledger.entries import format_instant
from privacy.ledger.statements import Statement


def verify_statement(
    draft: ApplicationDraft | WithdrawalDraft, key: str, signature: str, origin: str
) -> Statement:
    """Return the applicant's statement, verified with the key in it, and all other individuals'
    proofs.
    """
    principal = draft.principal if isinstance(draft, ApplicationDraft) else draft.individuals[0]
    maker = import_public_jwk(dict(principal.jwk))
    by = f"applicant:{maker.thumbprint()}"
    body = stated_body(draft.model_dump(mode="json"))
    statement = check(Statement("application", by, key, body, signature), maker, origin)
    if isinstance(draft, ApplicationDraft):
        individuals.check_proofs(draft, body, origin)
    return statement


def submit(
    session: Session,
    draft: ApplicationDraft,
    statement: Statement,
    calendar: Calendar,
    settings: Settings,
) -> ApplicationRow:
    """Record a new application, which the regulator has 80 working days to decide on."""
    check_dates(draft.valid_from, draft.valid_until)
    at = lock(session)
    people = individuals.admit(session, draft, at)
    principal = people[draft.individuals.index(draft.principal)]
    if principal.auditor_id is None:
        newcomers.refuse_flood(session, settings, at)
    row = ApplicationRow(
        id=new_id("application"),
        state="submitted",
        version=1,
        entry=0,
        principal_id=principal.id,
        auditor_id=principal.auditor_id,
        submitted_at=at,
        due=calendar.after_working_days(at, DECISION_WORKING_DAYS),
    )
    session.add(row)
    session.flush()
    _write_version(session, row, draft, people, statement, at)
    return row


def answer(
    session: Session,
    caller: Caller,
    application_id: str,
    draft: ApplicationDraft,
    statement: Statement,
    calendar: Calendar,
) -> ApplicationRow:
    """Record a new version, after the regulator requested changes."""
    check_dates(draft.valid_from, draft.valid_until)
    at = lock(session)
    row = _mine(session, caller, application_id, statement)
    change_state(row, "answer", caller.role, at, calendar)
    row.version += 1
    _write_version(session, row, draft, individuals.admit(session, draft, at), statement, at)
    return row


def withdraw(
    session: Session,
    caller: Caller,
    draft: WithdrawalDraft,
    statement: Statement,
    calendar: Calendar,
) -> ApplicationRow:
    """Withdraw the application for its applicant."""
    at = lock(session)
    row = _mine(session, caller, draft.application_id, statement)
    change_state(row, "withdraw", caller.role, at, calendar)
    row.version += 1
    people = [session.get_one(ResearcherRow, row.principal_id)]
    facts = {"version": row.version, "individuals": individuals.state_individuals(people)}
    record(session, row, "application", facts, statement, at)
    return row


def change_state(
    row: ApplicationRow, event: str, role: Role, at: datetime, calendar: Calendar, days: int = 0
) -> None:
    """Change the state as `CHANGES` states, if its period has not ended."""
    change = CHANGES.get((row.state, event))
    if change is None or role not in change.by:
        raise ConflictError(
            f"The application is {row.state}, which does not allow this. Nothing was changed.",
            state=row.state,
            case=row.state,
        )
    running = PERIODS.get(row.state)
    if running and running.binding and row.due and at >= row.due:
        raise ConflictError(
            f"The period to {running.what} ended at the {calendar.end_in_words(row.due)} "
            f"({running.law}). "
            f"Nothing was changed.",
            state=row.state,
            due=format_instant(row.due),
            case="period-ended",
        )
    begins = PERIODS.get(change.to)
    row.state = change.to
    if begins is None:
        row.due = None
    elif begins.due is not None:
        row.due = begins.due(calendar, at, days)


def record(
    session: Session,
    row: ApplicationRow,
    kind: str,
    facts: dict[str, object],
    statement: Statement,
    at: datetime,
) -> EntryRow:
    """Write the change of state into the ledger and into the application's history."""
    whole = {
        "application_id": row.id,
        "state": row.state,
        "due": None if row.due is None else format_instant(row.due),
        **facts,
    }
    entry = append(session, kind, whole, row.auditor_id, statement, at=at)
    session.add(row)
    event = ApplicationEventRow(application_id=row.id, number=entry.number, state=row.state)
    session.add(event)
    return entry


def keep_texts(session: Session, row: ApplicationRow, draft: BaseModel) -> None:
    personal_text.store_texts(session, draft, row.id)


def lock_application(session: Session, application_id: str) -> ApplicationRow:
    """Return an application, locked for a change; the ledger must be locked already."""
    query = select(ApplicationRow).where(ApplicationRow.id == application_id).with_for_update()
    row = session.exec(query).first()
    if row is None:
        raise NotFoundError(f"no application {application_id}")
    return row


def lock_application_of(session: Session, caller: Caller, application_id: str) -> ApplicationRow:
    """Return an application, locked for a change.

    One that the caller may not see does not exist.
    """
    row = lock_application(session, application_id)
    if not _sees(session, caller, row):
        raise NotFoundError(f"no application {application_id}")
    return row


def get_visible(session: Session, caller: Caller, application_id: str) -> ApplicationRow:
    """Return an application that the caller may see; any other does not exist for them."""
    row = session.get(ApplicationRow, application_id)
    if row is None or not _sees(session, caller, row):
        raise NotFoundError(f"no application {application_id}")
    return row


def _sees(session: Session, caller: Caller, row: ApplicationRow) -> bool:
    if caller.role == "regulator":
        return True
    if caller.role == "operator":
        return row.state not in HIDDEN_FROM_OPERATORS
    return session.get(IndividualRow, (row.id, caller.researcher_id)) is not None


def _mine(
    session: Session, caller: Caller, application_id: str, statement: Statement
) -> ApplicationRow:
    row = lock_application_of(session, caller, application_id)
    principal = session.get_one(ResearcherRow, row.principal_id)
    signer = f"applicant:{principal.key_thumbprint}"
    if caller.researcher_id != principal.id or statement.by != signer:
        raise ForbiddenError("Only the principal applicant may do this, with the registered key.")
    return row


def _write_version(
    session: Session,
    row: ApplicationRow,
    draft: ApplicationDraft,
    people: list[ResearcherRow],
    statement: Statement,
    at: datetime,
) -> None:
    if strangers := [p.id for p in people if p.auditor_id not in (None, row.auditor_id)]:
        raise ConflictError(
            f"{strangers[0]} is a researcher of another auditor. Nothing was changed.",
            case="researcher-of-another-auditor",
        )
    individuals.replace_individuals(session, row, people)
    keep_texts(session, row, draft)
    individuals.keep_texts(session, draft, people)
    facts = {"version": row.version, "individuals": individuals.state_individuals(people)}
    row.entry = record(session, row, "application", facts, statement, at).number
