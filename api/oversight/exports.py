"""Tables of regulators' views, for download. Lists in a cell are separated by spaces."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import get_args

import pyarrow as pa
from sqlmodel import Session, col, select

from api.audits import charge_queries
from api.db import ChargeRow, Store
from api.kernel.settings import Settings
from api.oversight import refusals
from api.oversight.flags import figures_in_words, load_flags
from api.oversight.overview import build_overview
from api.oversight.time_range import TimeRange
from api.web.table_streaming import Row, csv_pieces, parquet_pieces
from openapi.resources import (
    AuditorOverview,
    AuditState,
    Charge,
    ExportFormat,
    ExportName,
    MandateOverview,
    Renewal,
)

MEDIA_TYPES: dict[ExportFormat, str] = {
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}
STATES: tuple[AuditState, ...] = get_args(AuditState)
_TEXT, _COUNT, _DAY, _YES = pa.string(), pa.int64(), pa.date32(), pa.bool_()
_INSTANT = pa.timestamp("us", tz="UTC")
# Exact: no amount has more than thirteen decimal places.
_AMOUNT = pa.decimal128(38, 13)
# Bytes of a table that stay in memory, and bytes of one piece.
_IN_MEMORY, _PIECE = 4 * 1024 * 1024, 256 * 1024


@dataclass(frozen=True)
class ExportQuery:
    """Query for a table."""

    settings: Settings
    period: TimeRange
    auditor_id: str | None


def export(
    store: Store, name: ExportName, written_as: ExportFormat, asked: ExportQuery
) -> Iterator[bytes]:
    """Return the table in pieces, as it was at one moment.

    The first piece is made at once, so that the caller sees an error at once.
    """
    pieces = _pieces(store, name, written_as, asked)
    return chain([next(pieces)], pieces)


def _pieces(
    store: Store, name: ExportName, written_as: ExportFormat, asked: ExportQuery
) -> Iterator[bytes]:
    """Write the table to a file first: a reader may be slow, and no connection must wait for
    one.
    """
    columns, read = TABLES[name]
    pieces = parquet_pieces if written_as == "parquet" else csv_pieces
    with SpooledTemporaryFile(_IN_MEMORY) as file:
        with store.snapshot() as session:
            file.writelines(pieces(columns, read(session, asked)))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _overview(session: Session, asked: ExportQuery) -> Iterator[Row]:
    for auditor in build_overview(session, asked.settings, asked.auditor_id).auditors:
        if not auditor.mandates:
            yield (*_of_auditor(auditor), *([None] * (len(OVERVIEW) - 4)))
        for mandate in auditor.mandates:
            yield (*_of_auditor(auditor), *_of_mandate(mandate))


def _of_auditor(auditor: AuditorOverview) -> Row:
    return (auditor.id, auditor.name, auditor.researchers, auditor.refusals)


def _of_mandate(mandate: MandateOverview) -> Row:
    return (
        mandate.id,
        mandate.purpose,
        " ".join(mandate.kinds),
        mandate.state,
        mandate.currency,
        mandate.limit,
        _renewal(mandate.renewal),
        mandate.lifetime_limit,
        mandate.spent,
        mandate.remaining,
        mandate.spent_7_days,
        mandate.spent_30_days,
        mandate.exhausted_on,
        mandate.valid_from,
        mandate.valid_until,
        *(mandate.audits.get(state, 0) for state in STATES),
    )


def _renewal(renewal: Renewal | None) -> str | None:
    return f"{renewal.kind}:{renewal.days}" if renewal else None


def _charges(session: Session, asked: ExportQuery) -> Iterator[Row]:
    query = select(ChargeRow).where(*asked.period.holds(ChargeRow.charged_at))
    if asked.auditor_id is not None:
        query = query.where(ChargeRow.auditor_id == asked.auditor_id)
    newest_first = query.order_by(col(ChargeRow.id).desc()).execution_options(yield_per=1_000)
    return (_of_charge(charge_queries.to_wire(row)) for row in session.exec(newest_first))


def _of_charge(charge: Charge) -> Row:
    epsilon = charge.epsilon
    return (
        charge.id,
        charge.charged_at,
        charge.auditor_id,
        charge.researcher_id,
        charge.mandate_id,
        charge.audit_id,
        charge.audience_id,
        charge.audience_commitment,
        " ".join(charge.content_digests),
        charge.kind,
        epsilon.add_remove if epsilon else None,
        epsilon.change_one if epsilon else None,
        charge.rho.add_remove,
        charge.rho.change_one,
        charge.currency,
        charge.debit,
        charge.exploration_loss,
        charge.refunded,
    )


def _refusals(session: Session, asked: ExportQuery) -> Iterator[Row]:
    query = refusals.order_newest_first(refusals.select_refusals(asked.period, asked.auditor_id))
    for row in session.exec(query.execution_options(yield_per=1_000)):
        found = refusals.to_wire(row)
        yield (
            found.number,
            found.at,
            found.auditor_id,
            found.researcher_id,
            found.code,
            found.audit_kind,
            found.request,
        )


def _flags(session: Session, asked: ExportQuery) -> Iterator[Row]:
    for flag in load_flags(session, asked.period, asked.auditor_id).flags:
        yield (
            flag.pattern,
            flag.at,
            " ".join(flag.auditor_ids),
            " ".join(flag.audience_ids),
            flag.mandate_id,
            flag.explanation,
            figures_in_words(flag),
        )


OVERVIEW = pa.schema(
    [
        ("auditor_id", _TEXT),
        ("auditor", _TEXT),
        ("researchers", _COUNT),
        ("refusals", _COUNT),
        ("mandate_id", _TEXT),
        ("purpose", _TEXT),
        ("kinds", _TEXT),
        ("state", _TEXT),
        ("currency", _TEXT),
        ("limit", _AMOUNT),
        ("renewal", _TEXT),
        ("lifetime_limit", _AMOUNT),
        ("spent", _AMOUNT),
        ("remaining", _AMOUNT),
        ("spent_7_days", _AMOUNT),
        ("spent_30_days", _AMOUNT),
        ("exhausted_on", _DAY),
        ("valid_from", _INSTANT),
        ("valid_until", _INSTANT),
        *((f"audits_{state}", _COUNT) for state in STATES),
    ]
)
CHARGES = pa.schema(
    [
        ("id", _TEXT),
        ("charged_at", _INSTANT),
        ("auditor_id", _TEXT),
        ("researcher_id", _TEXT),
        ("mandate_id", _TEXT),
        ("audit_id", _TEXT),
        ("audience_id", _TEXT),
        ("audience_commitment", _TEXT),
        ("content_digests", _TEXT),
        ("kind", _TEXT),
        ("epsilon_add_remove", _AMOUNT),
        ("epsilon_change_one", _AMOUNT),
        ("rho_add_remove", _AMOUNT),
        ("rho_change_one", _AMOUNT),
        ("currency", _TEXT),
        ("debit", _AMOUNT),
        ("exploration_loss", _AMOUNT),
        ("refunded", _YES),
    ]
)
REFUSALS = pa.schema(
    [
        ("number", _COUNT),
        ("at", _INSTANT),
        ("auditor_id", _TEXT),
        ("researcher_id", _TEXT),
        ("code", _TEXT),
        ("audit_kind", _TEXT),
        ("request", _TEXT),
    ]
)
FLAGS = pa.schema(
    [
        ("pattern", _TEXT),
        ("at", _INSTANT),
        ("auditor_ids", _TEXT),
        ("audience_ids", _TEXT),
        ("mandate_id", _TEXT),
        ("explanation", _TEXT),
        ("figures", _TEXT),
    ]
)
TABLES: Mapping[ExportName, tuple[pa.Schema, Callable[[Session, ExportQuery], Iterator[Row]]]] = {
    "overview": (OVERVIEW, _overview),
    "charges": (CHARGES, _charges),
    "refusals": (REFUSALS, _refusals),
    "flags": (FLAGS, _flags),
}
