"""What mandates allow, what was spent of them, and what is left."""

from fastapi.responses import Response
from sqlmodel import Session, col

from api.auth.caller import Caller
from api.clock import now
from api.console.pages import pages
from api.console.visits import AuditorVisit
from api.ledger import view
from api.ledger.sight import visible
from api.routes import oversight
from api.store import EntryRow
from api.web.dependencies import ReadDep
from openapi.models import Entry

router = pages()


@router.get("/budget")
def show_budget(visit: AuditorVisit, session: ReadDep) -> Response:
    """The burn-down of every mandate, by the SDK's own chart of one's own entries."""
    from auditor_client.budget_charts import burn_down_chart, words  # Altair takes a second
    from auditor_client.burn_down import burn_down

    mandates = oversight.get_budget(visit.caller, session).mandates
    entries = spending(session, visit.caller)
    found = [burn_down(mandate, entries, now()) for mandate in mandates]
    return visit.page(
        "budget.html",
        found=[(each, words(each)) for each in found],
        chart=burn_down_chart(found).to_dict() if found else None,
    )


def spending(session: Session, caller: Caller) -> list[Entry]:
    """The charges and refunds that the caller may see, as the ledger's API shows them."""
    query = visible(caller).where(col(EntryRow.kind).in_(("charge", "refund")))
    return [view(row) for row in session.exec(query)]
