"""Pages for a regulator's signed interventions, with reasons, in a mandate or a running audit."""

import shlex
from collections.abc import Callable

from fastapi.responses import Response

from api.console.forms.signed_forms import signed_by
from api.console.pages.decisions import read_personal_text
from api.console.rendering import pages
from api.console.security import confirm_and_sign
from api.console.security.confirm_and_sign import SignedAct, parse_draft
from api.console.security.current_user import FormDep, PageRequest, RegulatorVisit
from api.identity.caller import Caller
from api.kernel.errors import NotFoundError
from api.ledger.signed_requests import SignedRequest
from api.vetting import service
from api.vetting.dependencies import InterventionParts
from openapi.resources import Mandate, MandateStateDraft, StopDraft

router = pages()

Intervention = Callable[[InterventionParts, Caller, MandateStateDraft, SignedRequest], Mandate]

# By the word in the URL: title, consequence, the statement's action, and the URL that receives it.
INTERVENTIONS: dict[str, tuple[str, str, str, str]] = {
    "suspend": (
        "Suspend the mandate",
        "Nothing more is charged to it. Audits that have not begun wait; running ones finish.",
        "suspension",
        "/regulator/suspensions",
    ),
    "resume": (
        "Lift the suspension",
        "The mandate can be charged again, and waiting audits run.",
        "resumption",
        "/regulator/resumptions",
    ),
    "terminate": (
        "Terminate the mandate",
        "This cannot be undone. Audits that have not begun are cancelled and refunded. Running ones"
        " finish.",
        "termination",
        "/regulator/terminations",
    ),
}


@router.post("/regulator/mandates/{mandate_id}/{intervention}")
def prepare_intervention(
    mandate_id: str, intervention: str, visit: RegulatorVisit, form: FormDep
) -> Response:
    """Show the intervention for signing. Nothing is done yet."""
    if intervention not in INTERVENTIONS:
        raise NotFoundError(f"There is no intervention {intervention}.")
    title, follows, action, address = INTERVENTIONS[intervention]
    reason = read_personal_text(form, "reason")
    command = ["auditor", "regulator", intervention, mandate_id, "--reason", reason.text]
    act = SignedAct(
        title=title,
        action=action,
        address=address,
        draft=parse_draft(MandateStateDraft, mandate_id=mandate_id, reason=reason),
        words=(("Mandate", mandate_id), ("What follows", follows), ("Reason", reason.text)),
        button=f"Sign: {title.lower()}",
        command=shlex.join(command),
    )
    return confirm_and_sign.show_confirmation(visit, act)


@router.post("/regulator/suspensions")
def suspend(visit: RegulatorVisit, form: FormDep) -> Response:
    return _intervene(visit, form, service.suspend_mandate)


@router.post("/regulator/resumptions")
def resume(visit: RegulatorVisit, form: FormDep) -> Response:
    return _intervene(visit, form, service.resume_mandate)


@router.post("/regulator/terminations")
def terminate(visit: RegulatorVisit, form: FormDep) -> Response:
    return _intervene(visit, form, service.terminate_mandate)


@router.post("/regulator/running/{audit_id}/stop")
def prepare_stop(audit_id: str, visit: RegulatorVisit, form: FormDep) -> Response:
    """Show the order to stop, which the regulator signs next."""
    reason = read_personal_text(form, "reason")
    command = ["auditor", "regulator", "stop", audit_id, "--reason", reason.text]
    act = SignedAct(
        title="Stop the audit",
        action="stop",
        address="/regulator/stops",
        draft=parse_draft(StopDraft, audit_id=audit_id, reason=reason),
        words=(
            ("Audit", audit_id),
            (
                "What follows",
                "From its next batch on, nobody is shown anything more. Nothing is released, and "
                "an audit that has begun stays charged.",
            ),
            ("Reason", reason.text),
        ),
        button="Sign: stop the audit",
        command=shlex.join(command),
    )
    return confirm_and_sign.show_confirmation(visit, act)


@router.post("/regulator/stops")
def stop(visit: RegulatorVisit, form: FormDep) -> Response:
    parts = visit.console.parts
    draft, signed = confirm_and_sign.parse_signed(StopDraft, form), signed_by(form, parts.origin)
    service.stop_audit(parts.interventions, visit.caller, draft, signed)
    return visit.go("/regulator/running")


def _intervene(visit: PageRequest, form: dict[str, str], intervene: Intervention) -> Response:
    parts = visit.console.parts
    draft, signed = (
        confirm_and_sign.parse_signed(MandateStateDraft, form),
        signed_by(form, parts.origin),
    )
    made = intervene(parts.interventions, visit.caller, draft, signed)
    return visit.go(f"/regulator/mandates/{made.id}")
