"""Pages for decisions on an application: a form becomes a request, to be read and signed."""

import shlex
from datetime import UTC, datetime
from decimal import Decimal
from typing import get_args

from fastapi.responses import Response
from sqlmodel import Session

from api.console.forms.signed_forms import signed_by
from api.console.rendering import pages
from api.console.security import confirm_and_sign
from api.console.security.confirm_and_sign import SignedAct, Words, parse_draft
from api.console.security.current_user import FormDep, PageRequest, RegulatorVisit
from api.kernel.errors import InvalidRequestError, NotFoundError
from api.vetting import queries, service
from api.web.dependencies import ReadDep
from openapi.resources import Application, DecisionDraft, MandateLimits, MediationDraft, Personal
from openapi.resources.vetting import MediationOutcome
from privacy.ledger.statements import state_request
from privacy.plans import PLANS
from privacy.receipts import canonical, digest

router = pages()

TITLES = {
    "approve": "Approve the application",
    "request-changes": "Ask for changes",
    "extend": "Extend the deadline",
    "refuse": "Refuse the application",
    "accept-amendment": "Accept the amendment",
    "reject-amendment": "Reject the amendment",
    "opened": "Open the mediation",
    "declined": "Decline the mediation",
    "agreed": "State what was agreed",
    "failed": "State that the mediation failed",
}


@router.post("/regulator/applications/{application_id}/{event}")
def prepare_decision(
    application_id: str, event: str, visit: RegulatorVisit, session: ReadDep, form: FormDep
) -> Response:
    """Show the decision for signing. Nothing is decided yet."""
    if event not in TITLES:
        raise NotFoundError(f"There is no decision {event}.")
    calendar = visit.console.parts.calendar
    application = queries.get_application(session, visit.caller, calendar, application_id)
    if event in get_args(MediationOutcome):
        return confirm_and_sign.show_confirmation(visit, _mediation(application, event, form))
    if event == "approve":
        return confirm_and_sign.show_confirmation(
            visit, _approval(visit, session, application, form)
        )
    return confirm_and_sign.show_confirmation(visit, _decision(application, event, form))


@router.post("/regulator/decisions")
def decide(visit: RegulatorVisit, form: FormDep) -> Response:
    """Make the decision that was signed."""
    parts = visit.console.parts
    draft, signed = (
        confirm_and_sign.parse_signed(DecisionDraft, form),
        signed_by(form, parts.origin),
    )
    made = service.decide_application(parts.store, visit.caller, draft, signed, parts.calendar)
    return visit.go(f"/regulator/applications/{made.id}")


@router.post("/regulator/mediations")
def mediate(visit: RegulatorVisit, form: FormDep) -> Response:
    """Take the step of the mediation that was signed."""
    parts = visit.console.parts
    draft, signed = (
        confirm_and_sign.parse_signed(MediationDraft, form),
        signed_by(form, parts.origin),
    )
    made = service.mediate(parts.store, visit.caller, draft, signed, parts.calendar)
    return visit.go(f"/regulator/applications/{made.id}")


def read_personal_text(form: dict[str, str], name: str = "reasons") -> Personal:
    """Return an erasable text of a form with a salt.

    The ledger commits to it. Browsers end lines with CRLF.
    """
    text = "\n".join(form.get(name, "").strip().splitlines())
    if not text:
        raise InvalidRequestError(f"Write your {name}. Nothing was done.")
    return parse_draft(Personal, text=text, salt=Personal.fresh("…").salt)


def _decision(application: Application, event: str, form: dict[str, str]) -> SignedAct:
    reasons, until = read_personal_text(form), form.get("until") or None
    draft = parse_draft(
        DecisionDraft,
        application_id=application.id,
        version=application.version,
        decision=event,
        reasons=reasons,
        until=until,
    )
    more = (("New deadline", f"the end of {until}"),) if until else ()
    options = ["--until", until] if until else []
    return _act(application, draft, event, (*more, ("Reasons", reasons.text)), options)


def _mediation(application: Application, event: str, form: dict[str, str]) -> SignedAct:
    text, days = read_personal_text(form), form.get("days") or None
    draft = parse_draft(
        MediationDraft, application_id=application.id, outcome=event, text=text, days=days
    )
    more = (("Time limit", f"{days} working days"),) if days else ()
    options = ["--days", days] if days else []
    return _act(application, draft, event, (*more, ("Text", text.text)), options)


def _approval(
    visit: PageRequest, session: Session, application: Application, form: dict[str, str]
) -> SignedAct:
    """Return the approval: the mandate of the form, and the digest of the submitted application."""
    submitted = queries.get_application_draft(session, visit.caller, application.id)
    limits, reasons = _limits(application, form), read_personal_text(form)
    draft = parse_draft(
        DecisionDraft,
        application_id=application.id,
        version=application.version,
        decision="approve",
        reasons=reasons,
        application_digest=digest(canonical(state_request(submitted.model_dump(mode="json")))),
        mandate=limits,
    )
    rows = (*_granted(application, limits), ("Reasons", reasons.text))
    act = _act(application, draft, "approve", rows, _options(limits))
    return SignedAct(**{**vars(act), "read": submitted})


def _limits(application: Application, form: dict[str, str]) -> MandateLimits:
    """Return the limits that the form grants. The service refuses more than was requested."""
    in_epsilon = application.rho_limit is None
    day = form.get("valid_until", "")
    unchanged = day == f"{application.valid_until.astimezone(UTC):%Y-%m-%d}"
    people = [each.researcher_id for each in application.individuals]
    return parse_draft(
        MandateLimits,
        purpose=application.purpose,
        kinds=[kind for kind in application.kinds if f"kind-{kind}" in form],
        epsilon_limit=form.get("limit") if in_epsilon else None,
        rho_limit=None if in_epsilon else form.get("limit"),
        renewal=application.renewal,
        lifetime_limit=form.get("lifetime") or None,
        exploration_limit=form.get("exploration") or Decimal(0),
        opened_share=form.get("opened_share") or Decimal(1),
        valid_from=application.valid_from,
        valid_until=application.valid_until if unchanged else _begin_of(day),
        researcher_ids=[each for each in people if f"person-{each}" in form] or None,
    )


def _begin_of(day: str) -> datetime:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError as error:
        raise InvalidRequestError(f"{day!r} is not a date. Nothing was done.") from error


def _granted(application: Application, limits: MandateLimits) -> Words:
    names = {each.researcher_id: each.name or "erased" for each in application.individuals}
    limit, currency = _amount(limits)
    rows: list[tuple[str, str | datetime]] = [
        ("Limit", f"{limit} {currency}"),
        ("Kinds of audit", ", ".join(limits.kinds)),
        ("Until", limits.valid_until),
        ("Who may spend it", ", ".join(names[each] for each in limits.researcher_ids or ())),
    ]
    if limits.renewal:
        rows += [
            ("Renewal", f"{limits.renewal.kind}, every {limits.renewal.days} days"),
            ("Lifetime limit", f"{limits.lifetime_limit} {currency}"),
        ]
    if limits.exploration_limit:
        rows += [("People may lose", f"{limits.exploration_limit} units of reward in total")]
    if _hides_weights(limits):
        rows += [("Two-party runs to open", f"{limits.opened_share:.0%}")]
    return tuple(rows)


def _hides_weights(limits: MandateLimits) -> bool:
    """Return whether the mandate allows a kind whose runs a regulator opens."""
    return any(name in PLANS and PLANS[name].hides_weights for name in limits.kinds)


def _amount(limits: MandateLimits) -> tuple[Decimal | None, str]:
    if limits.rho_limit is None:
        return limits.epsilon_limit, "epsilon"
    return limits.rho_limit, "rho"


def _options(limits: MandateLimits) -> list[str]:
    limit, currency = _amount(limits)
    options = [f"--{currency}", str(limit)]
    if limits.lifetime_limit is not None:
        options += ["--lifetime", str(limits.lifetime_limit)]
    if limits.exploration_limit:
        options += ["--exploration", str(limits.exploration_limit)]
    if _hides_weights(limits):
        options += ["--opened-share", str(limits.opened_share)]
    options += [word for kind in limits.kinds for word in ("--kind", kind)]
    return options + [
        word for each in limits.researcher_ids or () for word in ("--researcher", each)
    ]


def _act(
    application: Application,
    draft: DecisionDraft | MediationDraft,
    event: str,
    rows: Words,
    options: list[str],
) -> SignedAct:
    mediating = isinstance(draft, MediationDraft)
    verb, text = ("mediation", "--text") if mediating else ("decide", "--reasons")
    said = draft.text if isinstance(draft, MediationDraft) else draft.reasons
    command = ["auditor", "regulator", verb, application.id, event, *options, text, said.text]
    return SignedAct(
        title=TITLES[event],
        action="mediation" if mediating else "decision",
        address="/regulator/mediations" if mediating else "/regulator/decisions",
        draft=draft,
        words=(
            ("Application", application.id),
            ("Organisation", application.organisation),
            ("Version that you have read", str(application.version)),
            *rows,
        ),
        button=f"Sign: {TITLES[event].lower()}",
        command=shlex.join(command),
    )
