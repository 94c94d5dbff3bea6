"""What regulators and operators state in the course of vetting: each is signed by its maker."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from sqlmodel import Session

from api.accounts import service as accounts
from api.audits import kill_switch
from api.db import MandateRow
from api.identity.caller import Caller
from api.identity.roles import OperatorDep, RegulatorDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger import lock
from api.ledger.signed_requests import REFUSALS, Signed, SignedDep
from api.mandates import service as mandates
from api.vetting import decisions, interventions, key_changes
from api.vetting.dependencies import CalendarDep, InterventionDep, InterventionParts
from api.vetting.views import view
from api.web.dependencies import StoreDep
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import (
    AmendmentDraft,
    Application,
    DecisionDraft,
    Erasure,
    ErasureDraft,
    Mandate,
    MandateChangeDraft,
    MandateStateDraft,
    MediationDraft,
    Progress,
    RemovalDraft,
    Researcher,
    StopDraft,
)
from privacy.ledger.statements import Statement

_RESPONSES = responses(
    UnauthenticatedError,
    ForbiddenError,
    RateLimitedError,
    *REFUSALS,
    NotFoundError,
    ConflictError,
    body=True,
)
regulator = new_router(prefix="/v1/regulator", tags=["regulator"], responses=_RESPONSES)
operator = new_router(prefix="/v1/operator", tags=["operator"], responses=_RESPONSES)

Act = Callable[[Session, Any, Statement], MandateRow]


@regulator.post("/decisions", status_code=201)
def decide_application(
    draft: DecisionDraft,
    caller: RegulatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Ask for changes, extend the deadline, approve with limits, refuse; decide on an amendment."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "decision", draft)
        row = decisions.decide(session, draft, statement, calendar)
        return view(session, row)


@regulator.post("/mediations", status_code=201)
def mediate_as_regulator(
    draft: MediationDraft,
    caller: RegulatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Open, decline or end the mediation."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "mediation", draft)
        row = decisions.mediate(session, caller, draft, statement, calendar)
        return view(session, row)


@operator.post("/amendments", status_code=201)
def ask_for_amendment(
    draft: AmendmentDraft,
    caller: OperatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Ask the regulator to amend what was granted, within the period for it."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "amendment", draft)
        row = decisions.ask_amendment(session, caller, draft, statement, calendar)
        return view(session, row)


@operator.post("/mediations", status_code=201)
def mediate_as_operator(
    draft: MediationDraft,
    caller: OperatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Ask for mediation within the period for it, or end it."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "mediation", draft)
        row = decisions.mediate(session, caller, draft, statement, calendar)
        return view(session, row)


@regulator.post("/suspensions", status_code=201)
def suspend_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Suspend a mandate: nothing more is charged to it, and what was not begun waits."""
    return _act(parts, caller, signed, "suspension", draft, interventions.suspend)


@regulator.post("/resumptions", status_code=201)
def resume_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Put a suspended mandate in force again."""
    return _act(parts, caller, signed, "resumption", draft, interventions.resume)


@regulator.post("/terminations", status_code=201)
def terminate_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """End a mandate for good: what was not begun is cancelled and refunded."""
    terminate = partial(interventions.terminate, settings=parts.settings)
    return _act(parts, caller, signed, "termination", draft, terminate)


@regulator.post("/mandate-changes", status_code=201)
def change_mandate(
    draft: MandateChangeDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Change the limits, the kinds or the end of a mandate."""
    return _act(parts, caller, signed, "mandate-change", draft, interventions.change)


@regulator.post("/stops", status_code=201)
def stop_audit_as_regulator(
    draft: StopDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Progress:
    """Stop an audit that explores, before its next batch: nobody is shown anything more."""
    return _stop(parts, caller, signed, draft)


@operator.post("/stops", status_code=201)
def stop_audit_as_operator(
    draft: StopDraft, caller: OperatorDep, parts: InterventionDep, signed: SignedDep
) -> Progress:
    """Stop an audit that explores, before its next batch: nobody is shown anything more."""
    return _stop(parts, caller, signed, draft)


@regulator.post("/removals", status_code=201)
def remove_researcher(
    draft: RemovalDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Researcher:
    """Take access from an individual; their tokens stop working at once."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "researcher-removal", draft)
        return accounts.researcher_view(key_changes.remove(session, caller, draft, statement))


@regulator.post("/erasures", status_code=201)
def erase_personal_text(
    draft: ErasureDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Erasure:
    """Erase the personal text of an application or an individual. The ledger still verifies."""
    with store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, "erasure", draft)
        return key_changes.erase(session, draft, statement)


def _act(
    parts: InterventionParts, caller: Caller, signed: Signed, kind: str, draft: BaseModel, act: Act
) -> Mandate:
    with parts.store.write() as session:
        lock(session)
        statement = signed.statement(session, caller, kind, draft)
        row = act(session, draft, statement)
        session.flush()
        shown = mandates.view(session, row)
    parts.wake.set()
    return shown


def _stop(parts: InterventionParts, caller: Caller, signed: Signed, draft: StopDraft) -> Progress:
    with parts.store.write() as session:
        statement = signed.statement(session, caller, "stop", draft)
        row = kill_switch.stop(session, draft, statement, parts.settings)
        return Progress.model_validate({"audit_id": row.id, "state": row.state})
