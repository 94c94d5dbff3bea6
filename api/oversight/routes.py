"""`/v1/regulator`: budgets and rates of spending, refusals with their reasons, and flags."""

from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import AwareDatetime

from api.identity.roles import RegulatorDep
from api.kernel.errors import ForbiddenError, RateLimitedError, UnauthenticatedError
from api.oversight import exports, refusals
from api.oversight.flags import load_flags
from api.oversight.overview import build_overview
from api.oversight.time_range import DEFAULT_DAYS, TimeRange
from api.web.dependencies import ReadDep, SettingsDep, StoreDep
from api.web.parameters import LimitQuery
from api.web.problem_responses import responses
from api.web.routing import router as new_router
from openapi.resources import (
    ExportFormat,
    ExportName,
    Flags,
    Overview,
    Page,
    Refusal,
    RefusalCounts,
)

router = new_router(
    prefix="/v1/regulator",
    tags=["insight"],
    responses=responses(UnauthenticatedError, ForbiddenError, RateLimitedError),
)
_FILE = {"schema": {"type": "string", "format": "binary"}}
AuditorQuery = Annotated[str | None, Query(max_length=64, description="Only of this auditor.")]
SinceQuery = Annotated[
    AwareDatetime | None,
    Query(description=f"From this instant on (default: {DEFAULT_DAYS} days before `until`)."),
]
UntilQuery = Annotated[
    AwareDatetime | None, Query(description="Before this instant (default: now).")
]
NumberCursor = Annotated[int | None, Query(ge=0, le=2**62)]


def _period(since: SinceQuery = None, until: UntilQuery = None) -> TimeRange:
    return TimeRange.of(since, until)


PeriodDep = Annotated[TimeRange, Depends(_period)]


@router.get("/overview")
def get_overview(
    _: RegulatorDep, session: ReadDep, settings: SettingsDep, auditor_id: AuditorQuery = None
) -> Overview:
    """Return each auditor's budget and rate of spending, and what the platform has left."""
    return build_overview(session, settings, auditor_id)


@router.get("/refusals")
def list_refusals(
    _: RegulatorDep,
    session: ReadDep,
    period: PeriodDep,
    auditor_id: AuditorQuery = None,
    cursor: NumberCursor = None,
    limit: LimitQuery = 50,
) -> Page[Refusal]:
    """List refusals with their reasons, newest first."""
    return refusals.list_refusals(session, period, auditor_id, cursor, limit)


@router.get("/refusals/counts")
def count_refusals(
    _: RegulatorDep, session: ReadDep, period: PeriodDep, auditor_id: AuditorQuery = None
) -> RefusalCounts:
    """Count refused requests by auditor and reason."""
    return refusals.count_refusals(session, period, auditor_id)


@router.get("/flags")
def list_flags(
    _: RegulatorDep, session: ReadDep, period: PeriodDep, auditor_id: AuditorQuery = None
) -> Flags:
    """List unusual patterns with their figures. A flag is a question, not an accusation."""
    return load_flags(session, period, auditor_id)


@router.get(
    "/exports/{name}",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The table, as a file.",
            "content": dict.fromkeys(exports.MEDIA_TYPES.values(), _FILE),
        }
    },
)
def export_table(
    name: ExportName,
    _: RegulatorDep,
    store: StoreDep,
    settings: SettingsDep,
    period: PeriodDep,
    written_as: Annotated[ExportFormat, Query(alias="format")] = "csv",
    auditor_id: AuditorQuery = None,
) -> StreamingResponse:
    """Stream the overview, charges, refusals or flags as CSV or Parquet."""
    asked = exports.ExportQuery(settings, period, auditor_id)
    pieces = exports.export(store, name, written_as, asked)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{written_as}"'}
    media_type = exports.MEDIA_TYPES[written_as]
    return StreamingResponse(pieces, media_type=media_type, headers=headers)
