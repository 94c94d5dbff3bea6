"""Planning page, for visitors too: sliders, and the people that a study needs."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, Response

from api.console.planner.questions import POWER, Question, ranges
from api.console.rendering import pages
from api.console.security.current_user import PageRequest, VisitDep
from api.web.request_head import network_of

router = pages()

QuestionQuery = Annotated[Question, Query()]


@router.get("/plan")
async def show_plan(visit: VisitDep, asked: QuestionQuery) -> HTMLResponse:
    """Show the people per group; the page fetches the curve by itself.

    The first page never waits: if its numbers are not cached, the page fetches them too.
    """
    who, planner = _caller(visit), visit.console.planner
    needed = planner.cached(asked)
    if needed is None and visit.request.url.query:
        needed = await planner.needed(asked, who)
    return visit.page("plan.html", asked=asked, needed=needed, power=POWER, ranges=ranges())


@router.get("/plan/curve")
async def get_curve(visit: VisitDep, asked: QuestionQuery) -> Response:
    """Return the power curve of the same question, as a Vega-Lite specification."""
    who = _caller(visit)
    curve = await visit.console.planner.curve(asked, who)
    return Response(curve, media_type="application/json")


def _caller(visit: PageRequest) -> str:
    """Return the name under which requests are counted.

    Visitors are also rate-limited by network.
    """
    if visit.known is not None:
        return visit.known.researcher_id
    network = network_of(visit.request.client.host if visit.request.client else "unknown")
    visit.console.strangers.take(network)
    return network
