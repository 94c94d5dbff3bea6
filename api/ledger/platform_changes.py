"""Changes that the platform states: of settings that affect privacy, and of the model."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api.db import EntryRow, Store
from api.kernel.hard_limits import PLATFORM_WINDOW_DAYS
from api.kernel.settings import Settings
from api.ledger.entries import append, lock
from api.platforms.interfaces import Platform

ENABLED = "kind-enabled"
AFFECT_PRIVACY = (
    "person_lifetime_rho",
    "platform_rho",
    "members_kept_days",
    "upload_kept_hours",
    "max_members",
    # Settings that limit what matching and timing reveal: the quota of unpaid matching, and the
    # paces.
    "identifiers_per_day",
    "match_seconds",
    "match_rate",
    "audit_seconds",
    "audit_rate",
)

_NEWEST = (
    select(EntryRow.text)
    .where(EntryRow.kind == bindparam("kind"))
    .order_by(col(EntryRow.number).desc())
    .limit(1)
)


def record_state(store: Store, settings: Settings, platform: Platform) -> None:
    """Append the settings and the model of this process, if they differ from the newest entry."""
    values = settings.model_dump(mode="json", include=set(AFFECT_PRIVACY))
    values = {name: _exact(value) for name, value in values.items()}
    values["platform_window_days"] = PLATFORM_WINDOW_DAYS
    with store.write() as session:
        record_change(session, "settings", {"values": values})
        if platform.scores:
            record_change(session, "model", {"digest": platform.scores.model_digest})


def record_kinds(store: Store, packages: Sequence[Mapping[str, str]]) -> None:
    """Append each kind that a package adds, unless its newest entry names the same package."""
    if not packages:
        return
    with store.write() as session:
        lock(session)
        texts = session.exec(
            select(EntryRow.text).where(EntryRow.kind == ENABLED).order_by(col(EntryRow.number))
        ).all()
        known = {facts["kind"]: facts for facts in (json.loads(text)["facts"] for text in texts)}
        for package in packages:
            facts = {**package, "by": "operator"}
            if known.get(package["kind"]) != facts:
                append(session, ENABLED, facts)


def _exact(value: Any) -> Any:
    """Return seconds as decimal text: an entry holds no floating-point numbers (R5)."""
    return f"{Decimal(repr(value)).normalize():f}" if isinstance(value, float) else value


def record_change(session: Session, kind: str, facts: Mapping[str, Any]) -> None:
    """Append the facts, except if the newest entry of their kind has the same ones."""
    lock(session)
    newest = session.connection().execute(_NEWEST, {"kind": kind}).scalar()
    if newest is None or json.loads(newest)["facts"] != facts:
        append(session, kind, facts)
