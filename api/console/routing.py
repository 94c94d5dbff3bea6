"""Which pages there are. A page is a router of `pages()` in a module of its own."""

from fastapi import APIRouter
from fastapi.responses import Response

from api.console.console import ConsoleDep
from api.console.pages import pages
from api.errors import NotFoundError


def routers() -> tuple[APIRouter, ...]:
    from api.console import (
        applications,
        audiences,
        auditors,
        audits,
        budget,
        contents,
        decisions,
        evidence,
        home,
        interventions,
        ledger,
        operator,
        plan,
        quarters,
        running,
        sign_in,
    )

    return (
        home.router,
        sign_in.router,
        plan.router,
        contents.router,
        audiences.router,
        audits.router,
        budget.router,
        applications.router,
        decisions.router,
        auditors.router,
        interventions.router,
        running.router,
        evidence.router,
        ledger.router,
        quarters.router,
        operator.router,
        files,
    )


files = pages()
fallback = pages()


@files.get("/static/{digest}/{name:path}")
def get_file(digest: str, name: str, console: ConsoleDep) -> Response:
    """A static file of this version."""
    return console.static.respond(digest, name)


@fallback.get("/{rest:path}")
def find_nothing(rest: str) -> Response:
    raise NotFoundError(f"there is no page {rest}")
