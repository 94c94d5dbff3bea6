"""The route table of the application, as it serves it."""

from collections.abc import Iterable, Iterator
from typing import Any

from starlette.routing import BaseRoute

from api.app.app import create_app
from tests.world import Deployment


def served(deployment: Deployment) -> set[tuple[str, str]]:
    """Return the method and the path of every route."""
    return {
        (method, route.path)
        for route in _routes(create_app(deployment.service).routes)
        for method in set(route.methods or ()) - {"HEAD"}
    }


def _routes(routes: Iterable[BaseRoute]) -> Iterator[Any]:
    """Yield routes; FastAPI keeps those of an included router with that router."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is None:
            yield route
        else:
            yield from _routes(included.routes)
