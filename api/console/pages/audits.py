"""Pages of audits of every kind: price, the researcher's own signature, progress and result.

The browser signs exactly the request that this page showed, with the researcher's key file
(static/signing.js). The key is never sent. See ADR 0012.
"""

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query
from fastapi.responses import Response
from pydantic import ValidationError
from sqlmodel import Session

from api.audits import queries, quotes, service
from api.console.forms.fields import form_of
from api.console.forms.options import Choices, list_suitable_logs, load_choices, needs_local_keys
from api.console.forms.parsing import command_of, request_of
from api.console.forms.signed_forms import signed_by
from api.console.rendering import pages
from api.console.security.current_user import AuditorVisit, FormDep, PageRequest
from api.kernel.errors import ApiError, InvalidRequestError
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery
from openapi.kinds.parameters import parameters_of
from openapi.kinds.registry import CONTRACTS, DEFAULT
from openapi.kinds.unions import AnyRequest
from openapi.problems import TABLE
from openapi.resources import REQUEST, AuditKind, Quote
from openapi.resources.catalogue import KindNote

if TYPE_CHECKING:
    from api.console.results.prospects import Prospect

router = pages()


@dataclass(frozen=True)
class Complaint:
    """Reason why there is no price."""

    status: int
    title: str
    detail: str


TITLES = {name: contract.title for name, contract in CONTRACTS.items()}

# Audits among which those of the same audience are looked for, newest first.
_EARLIER = 100

Alpha = Annotated[float | None, Query(ge=0, lt=1)]
Delta = Annotated[float, Query(gt=0, lt=1)]


@router.get("/audits")
def list_audits(visit: AuditorVisit, session: ReadDep, cursor: CursorQuery = None) -> Response:
    """List the audits, newest first."""
    found = queries.list_audits(session, visit.caller, cursor, 25)
    return visit.page("audits.html", audits=found, titles=TITLES)


@router.get("/audits/new")
def prepare_audit(
    visit: AuditorVisit,
    session: ReadDep,
    kind: Annotated[AuditKind, Query()] = DEFAULT,
    log: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """Show the form and, once it is filled, the price. Nothing is spent."""
    offer = load_choices(visit, session, kind, log)
    given = _given(visit)
    asked, quote, complaint = _priced(visit, session, kind, offer, given)
    prospect = _prospect(visit, session, offer, asked, quote) if asked and quote else None
    return visit.page(
        "new_audit.html",
        status=complaint.status if complaint else 200,
        kind=kind,
        kinds={each: TITLES[each] for each in offer.catalogue.kinds},
        note=_note(offer, kind),
        offer=offer,
        logs=[each.name for each in list_suitable_logs(offer.catalogue, kind)],
        elsewhere=needs_local_keys(kind),
        fields=[] if needs_local_keys(kind) else form_of(kind, offer, given),
        first_kind=_first_kind(kind, offer),
        allowed=any(kind in mandate.kinds for mandate in offer.mandates),
        command=command_of(kind, offer, given) if asked else "",
        asked=asked.model_dump(mode="json") if asked else None,
        quote=quote,
        prospect=prospect,
        complaint=complaint,
        origin=visit.console.parts.origin,
        key=secrets.token_urlsafe(24),
    )


@router.post("/audits")
def submit_audit(visit: AuditorVisit, form: FormDep) -> Response:
    """Charge the audit that the researcher signed."""
    parts = visit.console.parts
    try:
        request = REQUEST.validate_json(form.get("request", ""))
    except ValidationError as error:
        raise InvalidRequestError("The request cannot be read. Nothing was charged.") from error
    signed = signed_by(form, parts.origin)
    audit = service.submit_audit(parts.submissions, parts.wake, visit.caller, request, signed)
    return visit.go(f"/audits/{audit.id}")


@router.get("/audits/{audit_id}")
def show_audit(
    audit_id: str,
    visit: AuditorVisit,
    session: ReadDep,
    alpha: Alpha = None,
    delta: Delta = 0.05,
) -> Response:
    """Show the state of an audit and, once it is released, its result."""
    audit = queries.get_audit(session, visit.caller, audit_id)
    if audit.state != "released":
        return visit.page("audit.html", audit=audit, title=TITLES[audit.kind])
    from api.console.results.page_data import load_result_page  # SciPy takes seconds to import

    found = load_result_page(visit, session, audit, alpha, delta)
    return visit.page(
        "result.html", audit=audit, title=TITLES[audit.kind], delta=delta, found=found
    )


@router.post("/audits/{audit_id}/cancel")
def cancel_audit(audit_id: str, visit: AuditorVisit) -> Response:
    """Cancel the audit and refund its charge, if nothing private has been read."""
    parts = visit.console.parts
    service.cancel_audit(parts.store, visit.caller, audit_id, parts.settings)
    return visit.go(f"/audits/{audit_id}")


@router.get("/audits/{audit_id}/events")
async def follow_audit(audit_id: str, visit: AuditorVisit) -> Response:
    """Stream the audit's state as server-sent events, at every change."""
    parts = visit.console.parts
    return await service.follow_audit(parts.store, parts.streams, lambda: visit.caller, audit_id)


@router.get("/audits/{audit_id}/release.json")
def get_release(audit_id: str, visit: AuditorVisit) -> Response:
    """Return the release as it was signed."""
    release = queries.get_release(visit.console.parts.store, visit.caller, audit_id)
    return _file(release, "application/json", f"{audit_id}.json")


@router.get("/audits/{audit_id}/receipt.json")
def get_receipt(audit_id: str, visit: AuditorVisit, session: ReadDep) -> Response:
    """Return the file for `auditor analyse`, `report` and `receipt verify`, without names of
    groups.
    """
    from api.console.results.page_data import build_receipt_file

    audit = queries.get_audit(session, visit.caller, audit_id)
    return _file(
        build_receipt_file(visit, session, audit), "application/json", f"{audit_id}-receipt.json"
    )


@router.get("/audits/{audit_id}/report.html")
def get_report(
    audit_id: str,
    visit: AuditorVisit,
    session: ReadDep,
    alpha: Alpha = None,
    delta: Delta = 0.05,
) -> Response:
    """Return the SDK's report, with labels instead of names."""
    from api.console.results.page_data import build_report

    audit = queries.get_audit(session, visit.caller, audit_id)
    text = build_report(visit, session, audit, alpha, delta)
    return _file(text, "text/html; charset=utf-8", f"{audit_id}-report.html")


@router.get("/audits/{audit_id}/data.csv")
def get_data(audit_id: str, visit: AuditorVisit, session: ReadDep) -> Response:
    """Return the noisy numbers, one per row."""
    from api.console.results.page_data import build_table

    audit = queries.get_audit(session, visit.caller, audit_id)
    return _file(build_table(visit, session, audit), "text/csv; charset=utf-8", f"{audit_id}.csv")


def _given(visit: PageRequest) -> dict[str, list[str]]:
    """Return the filled fields of the form; nothing on the first visit."""
    found: dict[str, list[str]] = {}
    for name, value in visit.request.query_params.multi_items():
        found.setdefault(name, []).append(value)
    return found if "audience_id" in found else {}


def _priced(
    visit: PageRequest,
    session: Session,
    kind: AuditKind,
    offer: Choices,
    given: dict[str, list[str]],
) -> tuple[AnyRequest | None, Quote | None, Complaint | None]:
    """Return the request of a filled form and its price, or the reason why there is none."""
    if not given or needs_local_keys(kind):
        return None, None, None
    try:
        asked = request_of(kind, offer, given, lambda audit: _released(visit, session, audit))
        parts = visit.console.parts
        quote = quotes.quote(session, visit.caller, asked, parts.platform, parts.settings)
    except ApiError as error:
        return None, None, Complaint(*TABLE[error.code], error.detail)
    return asked, quote, None


def _prospect(
    visit: PageRequest, session: Session, offer: Choices, asked: AnyRequest, quote: Quote
) -> "Prospect":
    """Return what the audit can tell, before it is paid."""
    from api.console.results.prospects import prospect_of  # SciPy takes seconds to import

    audience = next(each for each in offer.audiences if each.id == asked.audience_id)
    earlier = queries.list_audits(session, visit.caller, limit=_EARLIER).items
    return prospect_of(asked, quote, audience, offer.catalogue, earlier)


def _first_kind(kind: AuditKind, offer: Choices) -> str | None:
    """Return the kind that must be released first; None if nothing is missing."""
    lacking = (
        each.of
        for each in parameters_of(CONTRACTS[kind].request)
        if each.role == "audit" and not offer.options_of(each)
    )
    return next(lacking, None)


def _released(visit: PageRequest, session: Session, audit_id: str) -> Any:
    """Return a released audit of the caller's, on which another one depends."""
    from api.console.results.page_data import result_of

    return result_of(visit, session, queries.get_audit(session, visit.caller, audit_id))


def _note(offer: Choices, kind: AuditKind) -> KindNote | None:
    book = offer.catalogue.codebook
    return next((note for note in book.kinds if note.kind == kind), None) if book else None


def _file(body: bytes | str, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=media_type, headers=headers)
