"""Registry of the pages. A page is a router of `pages()` in a module of its own."""

from fastapi import APIRouter
from fastapi.responses import Response

from api.console.rendering import pages
from api.console.state import ConsoleDep
from api.kernel.errors import NotFoundError


def routers() -> tuple[APIRouter, ...]:
    from api.console.pages import (
        active_audits,
        applications,
        audiences,
        auditors,
        audits,
        budget,
        contents,
        decisions,
        home,
        interventions,
        ledger,
        operator,
        plan,
        quarterly_report,
        sign_in,
    )
    from api.console.results import ledger_proofs

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
        active_audits.router,
        ledger_proofs.router,
        ledger.router,
        quarterly_report.router,
        operator.router,
        files,
    )


files = pages()
fallback = pages()


@files.get("/static/{digest}/{name:path}")
def get_file(digest: str, name: str, console: ConsoleDep) -> Response:
    """Return a static file of this version."""
    return console.static.respond(digest, name)


@fallback.get("/{rest:path}")
def find_nothing(rest: str) -> Response:
    raise NotFoundError(f"There is no page {rest}.")
