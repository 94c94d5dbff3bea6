"""What needs no token: the catalogue, health and readiness."""

from fastapi import APIRouter
from sqlmodel import select

from api.audits import offered
from api.codebook import changelog, codebook, exploration_offer, log_offers
from api.errors import UnavailableError
from api.problems import responses
from api.routes.parameters import LimitQuery, NumberCursor
from api.service import ReadDep, ServiceDep
from api.store import HeadRow
from openapi.models import (
    MAX_BINS,
    Catalogue,
    Changelog,
    ContextField,
    Limits,
    SampleOffer,
    ScoreRange,
)
from openapi.models.audiences import IDENTIFIER_KINDS
from openapi.models.contents import CONTENT_KINDS
from openapi.models.wire import MAX_EPSILON, Wire

router = APIRouter(tags=["public"])


class Health(Wire):
    status: str = "ok"


@router.get("/v1/catalogue")
def get_catalogue(service: ServiceDep) -> Catalogue:
    """What this platform offers, in public numbers."""
    platform, settings = service.platform, service.settings
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


@router.get("/healthz")
def check_health() -> Health:
    """The process is alive."""
    return Health()


@router.get("/readyz", responses=responses(UnavailableError))
def check_readiness(session: ReadDep) -> Health:
    """The database answers and has the tables."""
    session.exec(select(HeadRow)).one()
    return Health()
