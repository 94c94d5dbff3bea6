"""Refusals and their reasons, from the ledger."""

import json
from collections import Counter

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from api.db import EntryRow
from api.oversight.time_range import TimeRange
from api.web.pagination import page
from openapi.resources import Page, Refusal, RefusalCount, RefusalCounts


def list_refusals(
    session: Session,
    period: TimeRange,
    auditor_id: str | None = None,
    cursor: int | None = None,
    limit: int = 50,
) -> Page[Refusal]:
    """Return the refusals of this period, newest first."""
    return page(
        session, select_refusals(period, auditor_id), EntryRow.number, to_wire, cursor, limit
    )


def select_refusals(period: TimeRange, auditor_id: str | None) -> SelectOfScalar[EntryRow]:
    query = select(EntryRow).where(EntryRow.kind == "refusal", *period.holds(EntryRow.at))
    return query if auditor_id is None else query.where(EntryRow.auditor_id == auditor_id)


def to_wire(row: EntryRow) -> Refusal:
    facts = json.loads(row.text)["facts"]
    return Refusal(
        number=row.number,
        at=row.at,
        auditor_id=row.auditor_id,
        researcher_id=facts["by"],
        code=facts["code"],
        audit_kind=facts["audit_kind"],
        request=facts["request"],
    )


def count_refusals(session: Session, period: TimeRange, auditor_id: str | None) -> RefusalCounts:
    """Count refusals by auditor and reason, the most frequent first."""
    rows = session.exec(select_refusals(period, auditor_id).execution_options(yield_per=1_000))
    found = Counter((row.auditor_id, json.loads(row.text)["facts"]["code"]) for row in rows)
    listed = sorted(found.items(), key=lambda each: (-each[1], each[0][0] or "", each[0][1]))
    return RefusalCounts(
        counts=[
            RefusalCount(auditor_id=auditor, code=code, count=count)
            for (auditor, code), count in listed
        ]
    )


def order_newest_first(query: SelectOfScalar[EntryRow]) -> SelectOfScalar[EntryRow]:
    return query.order_by(col(EntryRow.number).desc())
