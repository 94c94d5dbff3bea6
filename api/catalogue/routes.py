"""What needs no token: the catalogue, health and readiness."""

from typing import Annotated

from fastapi.responses import Response

from api.catalogue.codebook import changelog, codebook, exploration_offer, log_offers
from api.health.readiness import Readiness, WriteRecord
from api.kernel.errors import UnavailableError
from api.kinds.registry import offered
from api.web.dependencies import PlatformDep, ReadDep, SettingsDep, part
from api.web.parameters import LimitQuery, NumberCursor
from api.web.problem_responses import respond, responses
from api.web.routing import router as new_router
from openapi.resources import (
    MAX_BINS,
    Catalogue,
    Changelog,
    ContextField,
    Limits,
    SampleOffer,
    ScoreRange,
)
from openapi.resources.audiences import IDENTIFIER_KINDS
from openapi.resources.contents import CONTENT_KINDS
from openapi.wire_model import MAX_EPSILON, Wire

router = new_router(tags=["public"])
_RETRY_SECONDS = 5


class Health(Wire):
    status: str = "ok"


@router.get("/v1/catalogue")
def get_catalogue(settings: SettingsDep, platform: PlatformDep) -> Catalogue:
    """What this platform offers, in public numbers."""
    offers = platform.people.offers()
    scores = platform.scores
    low, high = scores.score_range if scores else (0.0, 1.0)
    return Catalogue(
        platform=platform.name,
        kinds=offered(platform),
        contents=list(CONTENT_KINDS),
        identifiers=list(IDENTIFIER_KINDS),
        samples=[
            SampleOffer(attribute=attribute, value=value, available=available)
            for attribute, values in offers.items()
            for value, available in values.items()
        ],
        context=[
            ContextField(name=name, values=list(values), default=values[0])
            for name, values in (scores.context if scores else {}).items()
        ],
        score_range=ScoreRange(low=low, high=high),
        model_digest=scores.model_digest if scores else None,
        logs=log_offers(platform),
        exploration=exploration_offer(platform),
        limits=Limits(
            members_per_audience=settings.max_members,
            bytes_per_part=settings.max_part_bytes,
            rows_per_part=settings.max_part_rows,
            bins=MAX_BINS,
            epsilon_per_audit=MAX_EPSILON,
            rho_per_person=settings.person_lifetime_rho,
            members_kept_days=settings.members_kept_days,
        ),
        codebook=codebook(platform),
    )


@router.get("/v1/catalogue/changes", responses=responses())
def list_catalogue_changes(
    session: ReadDep, cursor: NumberCursor = None, limit: LimitQuery = 50
) -> Changelog:
    """What changed: settings that affect privacy, and the model. From the ledger."""
    return changelog(session, cursor, limit)


# The two probes run on the event loop: no overload of threads or connections reaches them. An
# exception would be answered by a thread, so they raise none.
@router.get("/healthz")
async def check_health() -> Health:
    """Say that the process is alive."""
    return Health()


@router.get("/readyz", response_model=Readiness, responses=responses(UnavailableError))
async def check_readiness(writes: Annotated[WriteRecord, part("writes")]) -> Readiness | Response:
    """Say whether the last background write to the database succeeded, and how old it is."""
    found = writes.readiness()
    return found if found.is_ready else _not_ready(found)


def _not_ready(found: Readiness) -> Response:
    members = found.model_dump(mode="json", exclude={"status"})
    headers = {"Retry-After": str(_RETRY_SECONDS)}
    error = UnavailableError(f"{found.reason}; try again", headers=headers, **members)
    return respond(error, "/readyz")
