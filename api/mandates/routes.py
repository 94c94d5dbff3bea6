"""`/v1/budget` for auditors, and `/v1/regulator/mandates` to grant and list mandates."""

from api.identity.roles import AuditorDep, RegulatorDep
from api.kernel.errors import (
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    UnauthenticatedError,
)
from api.ledger.signed_requests import REFUSALS, SignedDep
from api.mandates import queries, service
from api.web.dependencies import ReadDep, StoreDep
from api.web.parameters import CursorQuery, IdQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Budget, Mandate, MandateDraft, Page

_ROLE = responses(UnauthenticatedError, ForbiddenError, RateLimitedError)
budget = new_router(prefix="/v1/budget", tags=["budget"], responses=_ROLE)
regulator = new_router(prefix="/v1/regulator", tags=["regulator"], responses=_ROLE)


@budget.get("")
def get_budget(caller: AuditorDep, session: ReadDep) -> Budget:
    """List your mandates, with their limits, spent and remaining amounts."""
    return queries.get_budget(session, caller)


@regulator.post(
    "/mandates", status_code=201, responses=responses(*REFUSALS, NotFoundError, body=True)
)
def grant_mandate(
    draft: MandateDraft, caller: RegulatorDep, store: StoreDep, signed: SignedDep
) -> Mandate:
    """Grant a mandate: its purpose, kinds of audit, budget and period of validity."""
    with store.write() as session:
        statement = signed.statement(session, caller, "mandate", draft)
        return service.grant(session, draft, statement)


@regulator.get("/mandates")
def list_mandates(
    _: RegulatorDep,
    session: ReadDep,
    auditor_id: IdQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = 50,
) -> Page[Mandate]:
    """List all mandates with their remaining budgets, newest first."""
    return queries.list_mandates(session, auditor_id, cursor, limit)
