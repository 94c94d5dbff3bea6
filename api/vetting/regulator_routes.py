"""Routes for statements of regulators and operators in vetting; each is signed by its maker."""

from api.identity.roles import OperatorDep, RegulatorDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.vetting import service
from api.vetting.dependencies import CalendarDep, InterventionDep
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


@regulator.post("/decisions", status_code=201)
def decide_application(
    draft: DecisionDraft,
    caller: RegulatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Decide on an application: request changes, extend, approve, refuse.

    The same route decides on an amendment.
    """
    return service.decide_application(store, caller, draft, signed, calendar)


@regulator.post("/mediations", status_code=201)
def mediate_as_regulator(
    draft: MediationDraft,
    caller: RegulatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Open, decline or end the mediation."""
    return service.mediate(store, caller, draft, signed, calendar)


@operator.post("/amendments", status_code=201)
def ask_for_amendment(
    draft: AmendmentDraft,
    caller: OperatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Ask the regulator to amend the grant, within the period for it."""
    return service.ask_for_amendment(store, caller, draft, signed, calendar)


@operator.post("/mediations", status_code=201)
def mediate_as_operator(
    draft: MediationDraft,
    caller: OperatorDep,
    store: StoreDep,
    calendar: CalendarDep,
    signed: SignedDep,
) -> Application:
    """Request mediation within the period for it, or end it."""
    return service.mediate(store, caller, draft, signed, calendar)


@regulator.post("/suspensions", status_code=201)
def suspend_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Suspend a mandate: nothing more is charged to it, and audits that have not begun wait."""
    return service.suspend_mandate(parts, caller, draft, signed)


@regulator.post("/resumptions", status_code=201)
def resume_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Resume a suspended mandate."""
    return service.resume_mandate(parts, caller, draft, signed)


@regulator.post("/terminations", status_code=201)
def terminate_mandate(
    draft: MandateStateDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Terminate a mandate: audits that have not begun are cancelled and refunded."""
    return service.terminate_mandate(parts, caller, draft, signed)


@regulator.post("/mandate-changes", status_code=201)
def change_mandate(
    draft: MandateChangeDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Mandate:
    """Change the limits, the kinds or the end of a mandate."""
    return service.change_mandate(parts, caller, draft, signed)


@regulator.post("/stops", status_code=201)
def stop_audit_as_regulator(
    draft: StopDraft, caller: RegulatorDep, parts: InterventionDep, signed: SignedDep
) -> Progress:
    """Stop an audit that explores, before its next batch: nobody is shown anything more."""
    return service.stop_audit(parts, caller, draft, signed)


@operator.post("/stops", status_code=201)
def stop_audit_as_operator(
    draft: StopDraft, caller: OperatorDep, parts: InterventionDep, signed: SignedDep
) -> Progress:
    """Stop an audit that explores, before its next batch: nobody is shown anything more."""
    return service.stop_audit(parts, caller, draft, signed)


@regulator.post("/removals", status_code=201)
def remove_researcher(
    draft: RemovalDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Researcher:
    """Remove an individual's access; their tokens stop working at once."""
    return service.remove_researcher(store, caller, draft, signed)


@regulator.post("/erasures", status_code=201)
def erase_personal_text(
    draft: ErasureDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Erasure:
    """Erase the personal text of an application or an individual. The ledger still verifies."""
    return service.erase_personal_text(store, caller, draft, signed)
