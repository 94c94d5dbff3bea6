"""Pages of a quarter, on screen and for print: spending, refusals and flags."""

from collections import Counter
from decimal import Decimal
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response, StreamingResponse

from api.accounts.queries import list_auditors
from api.console.rendering import pages
from api.console.results.quarter_data import load_dossier, load_names, quarter_of, recent_quarters
from api.console.security.current_user import RegulatorVisit
from api.oversight import exports
from api.oversight.flags import load_flags
from api.oversight.time_range import TimeRange
from api.web.dependencies import ReadDep
from openapi.problems import TABLE
from openapi.resources import Charge, ExportName

router = pages()

AuditorQuery = Annotated[str, Query(max_length=64)]
QuarterQuery = Annotated[str, Query(max_length=10)]
# Further rows are in the tables to download.
MOST_ROWS = 500
_AUDITORS = 500


@router.get("/regulator/spending")
def show_spending(
    visit: RegulatorVisit, session: ReadDep, quarter: QuarterQuery = "", auditor: AuditorQuery = ""
) -> Response:
    """Show the charges per week and the spent part of each mandate, in the SDK's own charts."""
    from auditor_client.oversight import charts  # Altair takes a second

    found = load_dossier(visit, session, quarter_of(quarter), auditor or None)
    spent = sum_spending(found.charges)
    pictures = [
        (charts.spending_chart(found, each).to_dict(), f"Charged per week, in {each}.")
        for each in sorted(spent)
    ]
    if next(found.mandates(), None):
        caption = "Spent share of each limit; for a limit that renews, of its lifetime limit."
        pictures.append((charts.mandate_chart(found).to_dict(), caption))
    return visit.page(
        "regulator/spending.html", pictures=pictures, spent=spent, **_asked(session, found)
    )


@router.get("/regulator/flags")
def show_flags(visit: RegulatorVisit, session: ReadDep, auditor: AuditorQuery = "") -> Response:
    """Show the flags of the last ninety days, each with its figures."""
    period = TimeRange.of(None, None)
    found = load_flags(session, period, auditor or None)
    auditors = list_auditors(session, limit=_AUDITORS).items
    return visit.page(
        "regulator/flags.html",
        found=found,
        names=load_names(session),
        auditors=auditors,
        chosen=auditor,
    )


@router.get("/regulator/report")
def show_report(
    visit: RegulatorVisit, session: ReadDep, quarter: QuarterQuery = "", auditor: AuditorQuery = ""
) -> Response:
    """Show the report of a quarter, for printing."""
    from auditor_client.oversight import charts
    from auditor_client.oversight.report import RESTS_ON, limit_words

    found = load_dossier(visit, session, quarter_of(quarter), auditor or None)
    spent = sum_spending(found.charges)
    reasons = Counter(refusal.code for refusal in found.refusals).most_common()
    return visit.page(
        "regulator/report.html",
        mandates=[(name, each, limit_words(each)) for name, each in found.mandates()],
        spending=[
            (charts.spending_chart(found, each).to_dict(), f"Charged per week, in {each}.")
            for each in sorted(spent)
        ],
        spent=spent,
        reasons=[(code, _meaning(code), count) for code, count in reasons],
        rests_on=RESTS_ON,
        most=MOST_ROWS,
        **_asked(session, found),
    )


@router.get("/regulator/report.html")
def get_report(
    visit: RegulatorVisit, session: ReadDep, quarter: QuarterQuery = "", auditor: AuditorQuery = ""
) -> Response:
    """Return the SDK's report as one file."""
    from auditor_client.oversight.report import render

    found = load_dossier(visit, session, quarter_of(quarter), auditor or None)
    headers = {"Content-Disposition": f'attachment; filename="oversight-{found.quarter}.html"'}
    return Response(render(found), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/regulator/exports/{name}.csv")
def get_table(
    name: ExportName, visit: RegulatorVisit, quarter: QuarterQuery = "", auditor: AuditorQuery = ""
) -> Response:
    """Return all rows of a quarter, as CSV."""
    asked = quarter_of(quarter)
    period, parts = TimeRange(asked.since, asked.until), visit.console.parts
    wanted = exports.ExportQuery(parts.settings, period, auditor or None)
    pieces = exports.export(parts.store, name, "csv", wanted)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(pieces, media_type=exports.MEDIA_TYPES["csv"], headers=headers)


def sum_spending(charges: list[Charge]) -> dict[str, Decimal]:
    """Return the sum of charges without refunds, by currency."""
    found: dict[str, Decimal] = {}
    for charge in charges:
        if not charge.refunded:
            found[charge.currency] = found.get(charge.currency, Decimal(0)) + charge.debit
    return found


def _asked(session: ReadDep, found: Any) -> dict[str, Any]:
    """Return the data shared by the pages of a quarter: the dossier, and the other choices."""
    return {
        "found": found,
        "quarters": recent_quarters(),
        "auditors": list_auditors(session, limit=_AUDITORS).items,
        "chosen": {
            "quarter": str(found.quarter),
            "auditor": found.auditor.id if found.auditor else "",
        },
    }


def _meaning(code: str) -> str:
    return TABLE[code][1] if code in TABLE else code
