"""`/v1/regulator/charges`: the charges of all auditors."""

from api.audits import charge_queries
from api.identity.roles import RegulatorDep
from api.kernel.errors import ForbiddenError, RateLimitedError, UnauthenticatedError
from api.web.dependencies import ReadDep
from api.web.parameters import CursorQuery, IdQuery, LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Charge, Page

router = new_router(
    prefix="/v1/regulator",
    tags=["regulator"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)


@router.get("/charges")
def list_charges(
    _: RegulatorDep,
    session: ReadDep,
    auditor_id: IdQuery = None,
    audience_id: IdQuery = None,
    cursor: CursorQuery = None,
    limit: LimitQuery = 50,
) -> Page[Charge]:
    """List charges with auditor, price and audience, newest first."""
    return charge_queries.list_charges(session, auditor_id, audience_id, cursor, limit)
