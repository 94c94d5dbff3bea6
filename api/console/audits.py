"""Audits: the price first, then the researcher's own signature, then progress, then the result.

The signature is made in the browser with the researcher's key file (static/signing.js), of exactly
the request that this page showed; the key is never sent. See ADR 0012.
"""

import secrets
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response
from pydantic import ValidationError
from sqlmodel import Session

from api.console.pages import pages
from api.console.signed_forms import signed_by
from api.console.visits import AuditorVisit, FormDep, Visit
from api.errors import InvalidRequestError
from api.routes import audiences, audits, contents
from api.routes.parameters import CursorQuery
from api.service import ReadDep
from openapi.models import REQUEST, Audience, Content, ScoreHistogramRequest

router = pages()

Alpha = Annotated[float, Query(gt=0, lt=1)]
Delta = Annotated[float, Query(gt=0, lt=1)]
IdQuery = Annotated[str | None, Query(max_length=64)]
_CHOICES = 100


@router.get("/audits")
def list_audits(visit: AuditorVisit, session: ReadDep, cursor: CursorQuery = None) -> Response:
    """The history, newest first."""
    found = audits.list_audits(visit.caller, session, cursor, 25)
    return visit.page("audits.html", audits=found)


@router.get("/audits/new")
def prepare_audit(
    visit: AuditorVisit,
    session: ReadDep,
    content: IdQuery = None,
    audience: IdQuery = None,
    bins: Annotated[int, Query(ge=1, le=200)] = 20,
    epsilon: Annotated[str, Query(max_length=20)] = "1",
) -> Response:
    """Choose; then see the price. Nothing is spent."""
    offered = _offered(visit, session)
    asked = quote = None
    if content and audience:
        asked = _request(visit, content, audience, bins, epsilon)
        quote = audits.price_audit(asked, visit.caller, session, visit.console.service)
    return visit.page(
        "new_audit.html",
        contents=offered[0],
        audiences=offered[1],
        chosen={"content": content, "audience": audience, "bins": bins, "epsilon": epsilon},
        asked=asked.model_dump(mode="json") if asked else None,
        quote=quote,
        origin=visit.console.service.origin,
        key=secrets.token_urlsafe(24),
    )


@router.post("/audits")
def submit_audit(visit: AuditorVisit, form: FormDep) -> Response:
    """Charge what the researcher signed."""
    service = visit.console.service
    try:
        request = REQUEST.validate_json(form.get("request", ""))
    except ValidationError as error:
        raise InvalidRequestError("the request cannot be read; nothing was charged") from error
    signed = signed_by(form, service.origin)
    audit = audits.submit_audit(request, visit.caller, service, signed, Response())
    return visit.go(f"/audits/{audit.id}")


@router.get("/audits/{audit_id}")
def show_audit(
    audit_id: str,
    visit: AuditorVisit,
    session: ReadDep,
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
) -> Response:
    """Where an audit stands; once it is released, what it says."""
    audit = audits.get_audit(audit_id, visit.caller, session)
    context: dict[str, Any] = {"audit": audit, "alpha": alpha, "delta": delta}
    if audit.state != "released":
        return visit.page("audit.html", **context)
    from api.console.results import found_in  # SciPy takes seconds to import

    return visit.page("result.html", **context, found=found_in(visit, session, audit, alpha, delta))


@router.post("/audits/{audit_id}/cancel")
def cancel_audit(audit_id: str, visit: AuditorVisit) -> Response:
    """Cancel and refund, as long as nothing private was read."""
    audits.cancel_audit(audit_id, visit.caller, visit.console.service)
    return visit.go(f"/audits/{audit_id}")


@router.get("/audits/{audit_id}/events")
async def follow_audit(audit_id: str, visit: AuditorVisit) -> Response:
    """The audit's state whenever it changes, as server-sent events."""
    return await audits.follow_audit(audit_id, visit.caller, visit.console.service)


@router.get("/audits/{audit_id}/release.json")
def get_release(audit_id: str, visit: AuditorVisit, session: ReadDep) -> Response:
    """The release as it was signed."""
    found = audits.get_release(audit_id, visit.caller, session)
    return _file(found.body, "application/json", f"{audit_id}.json")


@router.get("/audits/{audit_id}/receipt.json")
def get_receipt(audit_id: str, visit: AuditorVisit, session: ReadDep) -> Response:
    """What `auditor analyse`, `report` and `receipt verify` read; names of groups stay out."""
    from api.console.results import receipt_of

    audit = audits.get_audit(audit_id, visit.caller, session)
    return _file(receipt_of(visit, session, audit), "application/json", f"{audit_id}-receipt.json")


@router.get("/audits/{audit_id}/report.html")
def get_report(
    audit_id: str,
    visit: AuditorVisit,
    session: ReadDep,
    alpha: Alpha = 0.2,
    delta: Delta = 0.05,
) -> Response:
    """The SDK's report, with labels in place of names."""
    from api.console.results import report_of

    audit = audits.get_audit(audit_id, visit.caller, session)
    text = report_of(visit, session, audit, alpha, delta)
    return _file(text, "text/html; charset=utf-8", f"{audit_id}-report.html")


@router.get("/audits/{audit_id}/data.csv")
def get_data(audit_id: str, visit: AuditorVisit, session: ReadDep) -> Response:
    """Groups, bins and noisy counts."""
    from api.console.results import table_of

    audit = audits.get_audit(audit_id, visit.caller, session)
    return _file(table_of(visit, session, audit), "text/csv; charset=utf-8", f"{audit_id}.csv")


def _offered(visit: Visit, session: Session) -> tuple[list[Content], list[Audience]]:
    """What can be chosen: the newest contents, and audiences that are sealed."""
    found = contents.list_contents(visit.caller, session, None, _CHOICES)
    people = audiences.list_audiences(visit.caller, session, None, _CHOICES)
    return found.items, [each for each in people.items if each.state == "sealed"]


def _request(
    visit: Visit, content: str, audience: str, bins: int, epsilon: str
) -> ScoreHistogramRequest:
    """The request that the SDK would make."""
    from auditor_client.errors import InputError
    from auditor_client.requests import audit_request
    from openapi.models import ScoreRange

    scores = visit.console.service.platform.scores
    low, high = scores.score_range if scores else (0.0, 1.0)
    try:
        span = ScoreRange(low=low, high=high)
        return audit_request(content, audience, span, {"bins": bins, "epsilon": epsilon})
    except InputError as error:
        raise InvalidRequestError(f"{error} Nothing was spent.") from error


def _file(body: bytes | memoryview | str, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=media_type, headers=headers)
