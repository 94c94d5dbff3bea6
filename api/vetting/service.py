"""Commands of vetting: each verifies its maker's signature and acts, in one transaction."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from sqlmodel import Session

from api.accounts.service import researcher_to_wire
from api.audits import kill_switch
from api.db import MandateRow, Store
from api.identity.caller import Caller
from api.kernel.settings import Settings
from api.ledger import lock
from api.ledger.signed_requests import SignedRequest
from api.mandates import service as mandates
from api.vetting import applications, decisions, interventions, key_changes
from api.vetting.applications import verify_statement
from api.vetting.calendar import Calendar
from api.vetting.dependencies import InterventionParts
from api.vetting.views import to_wire
from openapi.resources import (
    AmendmentDraft,
    Application,
    ApplicationDraft,
    DecisionDraft,
    Erasure,
    ErasureDraft,
    KeyChangeDraft,
    Mandate,
    MandateChangeDraft,
    MandateStateDraft,
    Me,
    MediationDraft,
    Progress,
    RemovalDraft,
    Researcher,
    StopDraft,
    WithdrawalDraft,
)
from privacy.ledger.statements import Statement

Intervention = Callable[[Session, Any, Statement], MandateRow]


def send_application(
    store: Store,
    draft: ApplicationDraft,
    signed: SignedRequest,
    calendar: Calendar,
    settings: Settings,
) -> Application:
    """Record a new application, signed with the key that it contains."""
    statement = verify_statement(draft, signed.key, signed.signature, signed.origin)
    with store.write() as session:
        row = applications.submit(session, draft, statement, calendar, settings)
        return to_wire(session, row, calendar)


def answer_application(
    store: Store,
    caller: Caller,
    application_id: str,
    draft: ApplicationDraft,
    signed: SignedRequest,
    calendar: Calendar,
) -> Application:
    """Record a new version, after the regulator requested changes."""
    statement = verify_statement(draft, signed.key, signed.signature, signed.origin)
    with store.write() as session:
        row = applications.answer(session, caller, application_id, draft, statement, calendar)
        return to_wire(session, row, calendar)


def withdraw_application(
    store: Store,
    caller: Caller,
    draft: WithdrawalDraft,
    signed: SignedRequest,
    calendar: Calendar,
) -> Application:
    """Withdraw an application that is not decided."""
    statement = verify_statement(draft, signed.key, signed.signature, signed.origin)
    with store.write() as session:
        row = applications.withdraw(session, caller, draft, statement, calendar)
        return to_wire(session, row, calendar)


def decide_application(
    store: Store, caller: Caller, draft: DecisionDraft, signed: SignedRequest, calendar: Calendar
) -> Application:
    """Decide on an application or an amendment, as the regulator signed it."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "decision", draft)
        row = decisions.decide(session, draft, statement, calendar)
        return to_wire(session, row, calendar)


def mediate(
    store: Store, caller: Caller, draft: MediationDraft, signed: SignedRequest, calendar: Calendar
) -> Application:
    """Record a step of a mediation that the caller's role may take."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "mediation", draft)
        row = decisions.mediate(session, caller, draft, statement, calendar)
        return to_wire(session, row, calendar)


def ask_for_amendment(
    store: Store, caller: Caller, draft: AmendmentDraft, signed: SignedRequest, calendar: Calendar
) -> Application:
    """Record that the operator requests an amendment of the grant."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "amendment", draft)
        row = decisions.ask_amendment(session, caller, draft, statement, calendar)
        return to_wire(session, row, calendar)


def suspend_mandate(
    parts: InterventionParts, caller: Caller, draft: MandateStateDraft, signed: SignedRequest
) -> Mandate:
    """Suspend a mandate, and wake the worker."""
    return _intervene(parts, caller, signed, "suspension", draft, interventions.suspend)


def resume_mandate(
    parts: InterventionParts, caller: Caller, draft: MandateStateDraft, signed: SignedRequest
) -> Mandate:
    """Resume a suspended mandate, and wake the worker."""
    return _intervene(parts, caller, signed, "resumption", draft, interventions.resume)


def terminate_mandate(
    parts: InterventionParts, caller: Caller, draft: MandateStateDraft, signed: SignedRequest
) -> Mandate:
    """Terminate a mandate, refund its audits that have not begun, and wake the worker."""
    terminate = partial(interventions.terminate, settings=parts.settings)
    return _intervene(parts, caller, signed, "termination", draft, terminate)


def change_mandate(
    parts: InterventionParts, caller: Caller, draft: MandateChangeDraft, signed: SignedRequest
) -> Mandate:
    """Change the limits, the kinds or the end of a mandate, and wake the worker."""
    return _intervene(parts, caller, signed, "mandate-change", draft, interventions.change)


def stop_audit(
    parts: InterventionParts, caller: Caller, draft: StopDraft, signed: SignedRequest
) -> Progress:
    """Stop an audit that explores, before its next batch."""
    with parts.store.write() as session:
        statement = signed.statement(session, caller, "stop", draft)
        row = kill_switch.stop(session, draft, statement, parts.settings)
        return Progress.model_validate({"audit_id": row.id, "state": row.state})


def remove_researcher(
    store: Store, caller: Caller, draft: RemovalDraft, signed: SignedRequest
) -> Researcher:
    """Remove an individual's access."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "researcher-removal", draft)
        return researcher_to_wire(key_changes.remove(session, caller, draft, statement))


def erase_personal_text(
    store: Store, caller: Caller, draft: ErasureDraft, signed: SignedRequest
) -> Erasure:
    """Erase the personal text of an application or an individual."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "erasure", draft)
        return key_changes.erase(session, draft, statement)


def change_key(store: Store, caller: Caller, draft: KeyChangeDraft, signed: SignedRequest) -> Me:
    """Register the caller's new key, signed with the old one and proven with the new one."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "researcher-key", draft)
        return key_changes.change_key(session, caller, draft, statement, signed.origin)


def _intervene(
    parts: InterventionParts,
    caller: Caller,
    signed: SignedRequest,
    action: str,
    draft: BaseModel,
    intervention: Intervention,
) -> Mandate:
    with parts.store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, action, draft)
        row = intervention(session, draft, statement)
        session.flush()
        shown = mandates.to_wire(session, row)
    parts.wake.set()
    return shown
