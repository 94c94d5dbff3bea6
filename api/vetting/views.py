"""Wire form of an application: its statements, with the personal text that was not erased."""

import json
from collections.abc import Mapping
from typing import Any, cast

from sqlmodel import Session, col, select

from api.accounts import personal_text
from api.db import ApplicationEventRow, ApplicationRow, EntryRow
from api.kernel.errors import ConflictError
from api.vetting import individuals
from api.vetting.calendar import Calendar
from api.vetting.state_machine import PERIODS
from openapi.resources import (
    Application,
    ApplicationDraft,
    ApplicationEvent,
    ApplicationState,
    Deadline,
    Individual,
)

_PLAIN = (
    "organisation",
    "purpose",
    "kinds",
    "attributes",
    "epsilon_limit",
    "rho_limit",
    "renewal",
    "lifetime_limit",
    "exploration_limit",
    "valid_from",
    "valid_until",
)
_TEXTS = (
    "systemic_risk",
    "research",
    "necessity",
    "funding",
    "independence",
    "data_protection",
)
# Fields with the reasons of a decision, an amendment request or a step of the mediation.
_REASONS = ("reasons", "proposal", "text")

Texts = Mapping[str, str]


def load_stated_body(session: Session, row: ApplicationRow) -> dict[str, Any]:
    """Return the body of the newest version, as it was stated."""
    return _body(session.get_one(EntryRow, row.entry))


def load_submitted(session: Session, row: ApplicationRow) -> ApplicationDraft:
    """Return the newest version with text and salts, from which its commitments can be
    recomputed.
    """
    body = load_stated_body(session, row)
    try:
        return ApplicationDraft.model_validate(personal_text.open_texts(session, body))
    except KeyError as error:
        raise ConflictError("Personal text of this application was erased.") from error


def to_wire(session: Session, row: ApplicationRow, calendar: Calendar) -> Application:
    body, entries = load_stated_body(session, row), _history(session, row)
    bodies = [body, *(_body(entry) for entry, _ in entries)]
    texts = personal_text.load_texts(session, personal_text.list_commitments(bodies))
    return Application(
        id=row.id,
        state=cast("ApplicationState", row.state),
        version=row.version,
        individuals=_individuals(session, row, body, texts),
        auditor_id=row.auditor_id,
        mandate_id=row.mandate_id,
        submitted_at=row.submitted_at,
        deadline=_deadline(row, calendar),
        history=[_event(entry, state, texts) for entry, state in entries],
        **{name: body[name] for name in _PLAIN if name in body},
        **{name: _text(body[name], texts) for name in _TEXTS},
    )


def _history(session: Session, row: ApplicationRow) -> list[tuple[EntryRow, str]]:
    query = (
        select(EntryRow, ApplicationEventRow.state)
        .join(ApplicationEventRow, col(ApplicationEventRow.number) == col(EntryRow.number))
        .where(ApplicationEventRow.application_id == row.id)
        .order_by(col(EntryRow.number))
    )
    return [(entry, state) for entry, state in session.exec(query)]


def _individuals(
    session: Session, row: ApplicationRow, body: Mapping[str, Any], texts: Texts
) -> list[Individual]:
    people = individuals.load_individuals(session, row.id)
    return [
        Individual(
            researcher_id=person.id,
            key_thumbprint=person.key_thumbprint or "",
            role=stated["role"],
            name=_text(stated["name"], texts),
            contact=_text(stated["contact"], texts),
            affiliation=_text(stated["affiliation"], texts),
        )
        for person, stated in zip(people, body["individuals"], strict=True)
    ]


def _deadline(row: ApplicationRow, calendar: Calendar) -> Deadline | None:
    period = PERIODS.get(row.state)
    if period is None or row.due is None:
        return None
    return Deadline(
        what=period.what,
        who=period.who,
        due=row.due,
        last_day=calendar.last_day_before(row.due),
        time_zone=calendar.zone.key,
        law=period.law,
    )


def _event(entry: EntryRow, state: str, texts: Texts) -> ApplicationEvent:
    body = _body(entry)
    found = [_text(body.get(name), texts) for name in _REASONS]
    return ApplicationEvent(
        number=entry.number,
        kind=entry.kind,
        at=entry.at,
        by=json.loads(entry.text)["statement"]["by"],
        state=cast("ApplicationState", state),
        text="\n\n".join(filter(None, found)) or None,
    )


def _text(stated: Mapping[str, str] | None, texts: Texts) -> str | None:
    return None if stated is None else texts.get(stated["commitment"])


def _body(entry: EntryRow) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(entry.text)["statement"]["body"]
    return body
