"""Probes of one process: whether it is alive, and whether it can write to its database."""

from typing import Annotated

from fastapi.responses import Response

from api.kernel.errors import UnavailableError
from api.telemetry.readiness import Readiness, WriteRecord
from api.web.dependencies import part
from api.web.problem_responses import respond, responses
from api.web.routing import router as new_router
from openapi.wire_model import Wire

router = new_router(tags=["public"])
_RETRY_SECONDS = 5


class Health(Wire):
    status: str = "ok"


# The two probes run on the event loop, so no overload of threads or connections affects them. A
# thread would answer an exception, so they raise none.
@router.get("/healthz")
async def check_health() -> Health:
    """Report that the process is alive."""
    return Health()


@router.get("/readyz", response_model=Readiness, responses=responses(UnavailableError))
async def check_readiness(writes: Annotated[WriteRecord, part("writes")]) -> Readiness | Response:
    """Report the result and the age of the last background write to the database."""
    found = writes.readiness()
    return found if found.is_ready else _not_ready(found)


def _not_ready(found: Readiness) -> Response:
    members = found.model_dump(mode="json", exclude={"status"})
    headers = {"Retry-After": str(_RETRY_SECONDS)}
    error = UnavailableError(f"{found.reason}. Try again.", headers=headers, **members)
    return respond(error, "/readyz")
