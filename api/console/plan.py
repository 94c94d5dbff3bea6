"""Planning, before anybody signs in: sliders, and the people that a study needs."""

from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, JSONResponse

from api.console.pages import pages
from api.console.questions import Question
from api.console.visits import Visit, VisitDep

router = pages()

QuestionQuery = Annotated[Question, Query()]


@router.get("/plan")
def show_plan(visit: VisitDep, asked: QuestionQuery) -> HTMLResponse:
    """How many people per group; the page fetches the curve by itself."""
    from api.console.studies import POWER, needed  # SciPy takes seconds to import

    _count(visit)
    return visit.page("plan.html", asked=asked, needed=needed(asked), power=POWER)


@router.get("/plan/curve")
def get_curve(visit: VisitDep, asked: QuestionQuery) -> JSONResponse:
    """The power curve of the same question, as a Vega-Lite specification."""
    from api.console.studies import curve

    _count(visit)
    return JSONResponse(curve(asked))


def _count(visit: Visit) -> None:
    """Strangers by their address; who is signed in was counted already."""
    client = visit.request.client
    if visit.known is None and client is not None:
        visit.console.strangers.take(client.host)
