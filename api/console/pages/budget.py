"""Page of the caller's mandates: limits, spent and remaining amounts."""

from fastapi.responses import Response
from sqlmodel import Session, col

from api.console.rendering import pages
from api.console.security.current_user import AuditorVisit
from api.db import EntryRow
from api.identity.caller import Caller
from api.kernel.clock import now
from api.ledger import to_wire
from api.ledger.visibility import select_visible_entries
from api.mandates.queries import get_budget
from api.web.dependencies import ReadDep
from openapi.resources import Entry

router = pages()


@router.get("/budget")
def show_budget(visit: AuditorVisit, session: ReadDep) -> Response:
    """Show the burn-down of every mandate, by the SDK's own chart of the caller's entries."""
    from auditor_client.budget.burn_down import burn_down
    from auditor_client.budget.charts import (  # Altair takes a second
        burn_down_chart,
        describe_panel,
    )

    mandates = get_budget(session, visit.caller).mandates
    entries = list_spending(session, visit.caller)
    found = [burn_down(mandate, entries, now()) for mandate in mandates]
    return visit.page(
        "budget.html",
        found=[(each, describe_panel(each)) for each in found],
        chart=burn_down_chart(found).to_dict() if found else None,
    )


def list_spending(session: Session, caller: Caller) -> list[Entry]:
    """List the charges and refunds that the caller may see, as the ledger's API shows them."""
    query = select_visible_entries(caller).where(col(EntryRow.kind).in_(("charge", "refund")))
    return [to_wire(row) for row in session.exec(query)]
