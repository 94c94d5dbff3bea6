"""Pages of the ledger: search, filters, single entries, checkpoints.

The reader's browser verifies every statement of a page about the ledger against the signatures
(static/ledger.js): see `api.console.results.ledger_proofs`.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import Response
from sqlmodel import col
from sqlmodel.sql.expression import SelectOfScalar

from api.accounts.queries import list_auditors
from api.console.rendering import pages
from api.console.security.current_user import PageRequest, RegulatorVisit
from api.db import EntryRow
from api.kernel.errors import InvalidRequestError
from api.ledger import queries, to_wire
from api.ledger.visibility import select_visible_entries
from api.web.dependencies import ReadDep
from api.web.pagination import page
from api.web.parameters import EntryNumberPath, NumberCursor
from openapi.resources import Entry
from privacy.ledger.notes import Note

router = pages()

# In the order of docs/reference/ledger.md.
KINDS = (
    "settings",
    "model",
    "signing-key",
    "auditor",
    "researcher",
    "researcher-key",
    "researcher-removal",
    "application",
    "decision",
    "amendment",
    "mediation",
    "mandate",
    "mandate-change",
    "suspension",
    "resumption",
    "termination",
    "stop",
    "content",
    "audience",
    "charge",
    "registration",
    "refund",
    "answer",
    "opening",
    "release",
    "failure",
    "refusal",
    "audience-erasure",
    "erasure",
    "balance-repair",
    "kind-enabled",
)
# Fields that summarise an entry: the first few that it has.
_TELLING = (
    "decision",
    "outcome",
    "state",
    "code",
    "purpose",
    "name",
    "audit_id",
    "mandate_id",
    "application_id",
    "audience_id",
    "content_id",
    "researcher_id",
    "subject_id",
    "auditor_id",
    "digest",
    "kid",
)
_TOLD = 2
_SHOWN = 50
_AUDITORS = 500
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class LedgerFilter:
    """Filter that the reader chose."""

    q: str
    kind: str
    auditor: str
    since: date | None
    until: date | None

    def query(self, visit: PageRequest) -> SelectOfScalar[EntryRow]:
        """Return the query; days are days of UTC, and the last day is included."""
        found = select_visible_entries(visit.caller)
        if self.kind:
            found = found.where(EntryRow.kind == self.kind)
        if self.auditor:
            found = found.where(EntryRow.auditor_id == self.auditor)
        if self.since:
            found = found.where(col(EntryRow.at) >= _begin(self.since))
        if self.until:
            found = found.where(col(EntryRow.at) < _begin(self.until) + _DAY)
        if self.q.isdecimal() and len(self.q) < 19:
            return found.where(EntryRow.number == int(self.q))
        return (
            found.where(col(EntryRow.text).contains(self.q, autoescape=True)) if self.q else found
        )

    def fields(self) -> dict[str, str]:
        """Return the fields as they are in a URL."""
        return {name: str(value) for name, value in asdict(self).items() if value}


@router.get("/regulator/ledger")
def explore(
    visit: RegulatorVisit,
    session: ReadDep,
    q: Annotated[str, Query(max_length=200)] = "",
    kind: Annotated[str, Query(max_length=40)] = "",
    auditor: Annotated[str, Query(max_length=64)] = "",
    since: str = "",
    until: str = "",
    cursor: NumberCursor = None,
) -> Response:
    """List the entries that match the filter, newest first."""
    wanted = LedgerFilter(q.strip(), kind, auditor, _day(since), _day(until))
    found = page(session, wanted.query(visit), EntryRow.number, to_wire, cursor, _SHOWN)
    auditors = list_auditors(session, limit=_AUDITORS).items
    return visit.page(
        "regulator/ledger.html",
        entries=[(entry, summarise_entry(entry)) for entry in found.items],
        following=found.next,
        wanted=wanted,
        kinds=KINDS,
        names={each.id: each.name for each in auditors},
    )


@router.get("/regulator/ledger/heads")
def list_checkpoints(
    visit: RegulatorVisit, session: ReadDep, cursor: NumberCursor = None
) -> Response:
    """List the checkpoints, newest first, with the signers of each."""
    found = queries.list_checkpoints(session, cursor, _SHOWN)
    heads = [(head, _signers(head.note, visit.console.parts.origin)) for head in found.items]
    return visit.page("regulator/heads.html", heads=heads, following=found.next)


@router.get("/regulator/ledger/{number}")
def show_entry(number: EntryNumberPath, visit: RegulatorVisit, session: ReadDep) -> Response:
    """Show one entry in full, which the reader's browser proves."""
    entry = queries.get_entry(session, visit.caller, number)
    auditors = list_auditors(session, limit=_AUDITORS).items
    return visit.page(
        "regulator/entry.html",
        entry=entry,
        document=_document(entry),
        names={each.id: each.name for each in auditors},
    )


def summarise_entry(entry: Entry) -> str:
    """Return a summary of an entry in one line."""
    facts = entry.facts | (entry.statement.body if entry.statement else {})
    told = [str(facts[name]) for name in _TELLING if isinstance(facts.get(name), str)][:_TOLD]
    if "debit" in facts:
        told.insert(0, f"{facts['debit']} {facts.get('currency', '')}".strip())
    return ", ".join(told)


def _document(entry: Entry) -> dict[str, Any]:
    """Return the members of the entry, as they were hashed."""
    stated = entry.statement and entry.statement.model_dump(mode="json")
    return {
        "number": entry.number,
        "at": f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}",
        "kind": entry.kind,
        "auditor": entry.auditor_id,
        "facts": entry.facts,
        **({"statement": stated} if stated else {}),
    }


def _signers(note: str, origin: str) -> tuple[list[str], list[str]]:
    """Return the ids of the ledger's keys, and the names of witnesses, from the note."""
    names = list(Note.parse(note).signatures)
    return (
        [key_id.hex() for name, key_id in names if name == origin],
        [name for name, _ in names if name != origin],
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidRequestError(f"{text!r} is not a date like 2026-11-30.") from error


def _begin(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
