"""Which models were behind what was released, and since when, as the ledger has it."""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Session, cast, col, func, select

from api.catalogue.codebook import log_offers
from api.db import EntryRow
from api.platforms.interfaces import Platform


@dataclass(frozen=True)
class Used:
    """A model that scored from then on; `number` is the entry that says so."""

    number: int
    at: datetime
    digest: str


@dataclass(frozen=True)
class Seen:
    """A model in releases: how many name it, the first and the last of them."""

    digest: str
    releases: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Models:
    """`now` is what this process has, by what it is behind."""

    now: dict[str, str | None]
    history: list[Used]
    released: list[Seen]


def list_models(session: Session, platform: Platform) -> Models:
    return Models(_now(platform), _history(session), _released(session))


def _now(platform: Platform) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    if platform.scores:
        found["scores"] = platform.scores.model_digest
    found |= {f"the log {log.name}": log.model_digest for log in log_offers(platform)}
    if platform.policies:
        found["recommendation policies"] = platform.policies.policies_digest
    return found


def _history(session: Session) -> list[Used]:
    """Return uses of keys, the newest first."""
    query = select(EntryRow).where(EntryRow.kind == "model").order_by(col(EntryRow.number).desc())
    return [
        Used(row.number, row.at, json.loads(row.text)["facts"]["digest"])
        for row in session.exec(query)
    ]


def _released(session: Session) -> list[Seen]:
    """Return the models seen, the newest first; the database counts, as there may be millions."""
    at, digest = col(EntryRow.at), _digest(session)
    query = (
        select(digest, func.count(), func.min(at), func.max(at))
        .where(EntryRow.kind == "release", digest.is_not(None))
        .group_by(digest)
        .order_by(func.max(EntryRow.number).desc())
    )
    return [Seen(*row) for row in session.exec(query)]


def _digest(session: Session) -> ColumnElement[str]:
    """Select the digest in an entry, as either database reads JSON."""
    if session.get_bind().dialect.name == "sqlite":
        return func.json_extract(EntryRow.text, "$.facts.model_digest")
    read: ColumnElement[str] = cast(EntryRow.text, JSONB)["facts"]["model_digest"].astext
    return read
