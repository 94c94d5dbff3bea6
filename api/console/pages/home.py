"""Start page: an introduction for visitors; signed-in people go to the start of their work."""

from fastapi.responses import Response

from api.console.navigation import HOMES
from api.console.rendering import pages
from api.console.security.current_user import VisitDep

router = pages()


@router.get("")
@router.get("/")
def show_home(visit: VisitDep) -> Response:
    """Show the introduction, or redirect to the home page of the caller's role."""
    if visit.known is not None and visit.known.role in HOMES:
        return visit.go(HOMES[visit.known.role])
    return visit.page("home.html")
