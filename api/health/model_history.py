"""Models of the platform now, in releases, and in the history of the ledger."""

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
    """A model that scored from a time on; `number` is its ledger entry."""

    number: int
    at: datetime
    digest: str


@dataclass(frozen=True)
class Seen:
    """A model in releases: their number, and the times of the first and the last."""

    digest: str
    releases: int
    first: datetime
    last: datetime


@dataclass(frozen=True)
class Models:
    """Models of the platform; `now` has those of this process by their purpose."""

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
    """Return the models that scored, the newest first."""
    query = select(EntryRow).where(EntryRow.kind == "model").order_by(col(EntryRow.number).desc())
    return [
        Used(row.number, row.at, json.loads(row.text)["facts"]["digest"])
        for row in session.exec(query)
    ]


def _released(session: Session) -> list[Seen]:
    """Return the models in releases, the newest first.

    The database counts them, because there may be millions.
    """
    at, digest = col(EntryRow.at), _digest(session)
    query = (
        select(digest, func.count(), func.min(at), func.max(at))
        .where(EntryRow.kind == "release", digest.is_not(None))
        .group_by(digest)
        .order_by(func.max(EntryRow.number).desc())
    )
    return [Seen(*row) for row in session.exec(query)]


def _digest(session: Session) -> ColumnElement[str]:
    """Return the digest in an entry, by the JSON functions of the database."""
    if session.get_bind().dialect.name == "sqlite":
        return func.json_extract(EntryRow.text, "$.facts.model_digest")
    read: ColumnElement[str] = cast(EntryRow.text, JSONB)["facts"]["model_digest"].astext
    return read
