"""Routes of the catalogue, which need no token."""

from api.catalogue import queries
from api.catalogue.codebook import changelog
from api.web.dependencies import PlatformDep, ReadDep, SettingsDep
from api.web.parameters import LimitQuery, NumberCursor
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import Catalogue, Changelog

router = new_router(tags=["public"])


@router.get("/v1/catalogue")
def get_catalogue(settings: SettingsDep, platform: PlatformDep) -> Catalogue:
    """Return the offer of this platform, in public numbers."""
    return queries.get_catalogue(platform, settings)


@router.get("/v1/catalogue/changes", responses=responses())
def list_catalogue_changes(
    session: ReadDep, cursor: NumberCursor = None, limit: LimitQuery = 50
) -> Changelog:
    """List changes of the model and of settings that affect privacy, from the ledger."""
    return changelog(session, cursor, limit)
