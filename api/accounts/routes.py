"""`/v1/regulator/auditors` and `/v1/regulator/researchers`: register and list them."""

from api.accounts import queries, service
from api.identity.roles import RegulatorDep
from api.kernel.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.web.dependencies import ReadDep, StoreDep
from api.web.parameters import CursorQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Auditor, AuditorDraft, Page, Researcher, ResearcherDraft

router = new_router(
    prefix="/v1/regulator",
    tags=["regulator"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.post("/auditors", status_code=201, responses=responses(*REFUSALS, body=True))
def register_auditor(
    draft: AuditorDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Auditor:
    """Register a research organisation that was vetted."""
    with store.write() as session:
        statement = signed.statement(session, caller, "auditor", draft)
        return service.register_auditor(session, draft, statement)


@router.get("/auditors")
def list_auditors(
    _: RegulatorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Auditor]:
    """List all auditors, newest first."""
    return queries.list_auditors(session, cursor, limit)


@router.post(
    "/researchers",
    status_code=201,
    responses=responses(*REFUSALS, NotFoundError, ConflictError, body=True),
)
def register_researcher(
    draft: ResearcherDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Researcher:
    """Register a named individual with their public key."""
    with store.write() as session:
        statement = signed.statement(session, caller, "researcher", draft)
        return service.register_researcher(session, draft, statement)


@router.get("/researchers")
def list_researchers(
    _: RegulatorDep, session: ReadDep, cursor: CursorQuery = None, limit: LimitQuery = 50
) -> Page[Researcher]:
    """List all registered individuals, newest first."""
    return queries.list_researchers(session, cursor, limit)
