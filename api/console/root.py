"""Root of the service, which redirects browsers to the console."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from api.console.rendering import PageRoute
from api.console.state import ConsoleDep
from api.kernel.errors import NotFoundError

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def lead_to_console(request: Request, console: ConsoleDep) -> Response:
    """Redirect a browser to the console; for programs there is nothing here."""
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(console.at(""), 303, headers={"Vary": "Accept"})
    raise NotFoundError("Not Found")
