"""Planning, before anybody signs in: sliders, and the people that a study needs."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, JSONResponse

from api.console.pages import pages
from api.console.questions import POWER, Question, ranges
from api.console.visits import Visit, VisitDep
from api.console.warming import ready

if TYPE_CHECKING:
    from api.console.studies import Needed

router = pages()

QuestionQuery = Annotated[Question, Query()]


@router.get("/plan")
def show_plan(visit: VisitDep, asked: QuestionQuery) -> HTMLResponse:
    """How many people per group; the page fetches the curve by itself.

    Nobody waits for the first page: while SciPy is being imported, its numbers come later as well.
    """
    _count(visit)
    later = not visit.request.url.query and not ready.is_set()
    needed = None if later else _needed(asked)
    return visit.page("plan.html", asked=asked, needed=needed, power=POWER, ranges=ranges())


@router.get("/plan/curve")
def get_curve(visit: VisitDep, asked: QuestionQuery) -> JSONResponse:
    """The power curve of the same question, as a Vega-Lite specification."""
    from api.console.studies import curve

    _count(visit)
    return JSONResponse(curve(asked))


def _needed(asked: Question) -> "Needed":
    from api.console.studies import needed  # SciPy takes seconds to import

    return needed(asked)


def _count(visit: Visit) -> None:
    """Strangers by their address; who is signed in was counted already."""
    client = visit.request.client
    if visit.known is None and client is not None:
        visit.console.strangers.take(client.host)
