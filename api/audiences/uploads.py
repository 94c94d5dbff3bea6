"""Audiences that auditors upload: open, filled part by part, then sealed."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple, cast

from sqlalchemy import ColumnElement, bindparam, func
from sqlalchemy.orm import defer
from sqlmodel import Session, col, delete, select, update

from api.accounting.memberships import group_order
from api.audiences import quota, similarity_sketches
from api.audiences.matching import Binding
from api.audiences.parsing import Members
from api.db import AudienceRow, AuditRow, GroupRow, PartRow, Store, change, insert
from api.identity.caller import Caller
from api.kernel.clock import EPOCH, now
from api.kernel.errors import (
    AudienceSealedError,
    AudienceTooLargeError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.platforms.interfaces import Persons
from api.web import quotas
from openapi.resources import Audience, AudienceDraft, Group, Part

_OWNED = select(AudienceRow).where(
    AudienceRow.id == bindparam("audience"), AudienceRow.auditor_id == bindparam("auditor")
)
# A charge refers to the audience while it holds the ledger lock, for which a sealing may wait. A
# lock that permits references keeps the two from deadlock.
_WAITED = _OWNED.with_for_update(key_share=True).execution_options(populate_existing=True)
# Public columns of a group.
SIZES = (col(GroupRow.label), col(GroupRow.members), col(GroupRow.known_size))
# An auditor's audience with each of its groups.
_GROUPED = _OWNED.join(GroupRow, col(GroupRow.audience_id) == col(AudienceRow.id)).add_columns(
    *SIZES
)
_GROUPS = (
    select(GroupRow)
    .where(GroupRow.audience_id == bindparam("audience"))
    .options(defer(cast("Any", GroupRow.people)))
)
_THIS_PART = (
    col(PartRow.audience_id) == bindparam("audience"),
    col(PartRow.label) == bindparam("group"),
    col(PartRow.number) == bindparam("part"),
)
_FOUND = select(PartRow.rows, PartRow.digest).where(*_THIS_PART)
_DROPPED = delete(PartRow).where(*_THIS_PART).returning(col(PartRow.rows), col(PartRow.digest))
_CLAIMED = update(PartRow).where(*_THIS_PART, col(PartRow.claim) == bindparam("held"))
_DUE = _CLAIMED.values(due_at=bindparam("due"))
_DELIVERED = _CLAIMED.values(
    data=bindparam("found"),
    tokens=bindparam("hashed"),
    sketch=bindparam("drawn"),
    claim=None,
    due_at=None,
)
# Time after its public time at which a part counts as lost: nobody matches it any more.
GRACE = timedelta(seconds=30)


class ClaimedPart(NamedTuple):
    """An accepted part that is to be matched: its position, its claim, and its public time."""

    audience_id: str
    label: str
    number: int
    claim: str
    members: Members
    binding: Binding
    seconds: float

    @property
    def where(self) -> dict[str, Any]:
        part = {"audience": self.audience_id, "group": self.label, "part": self.number}
        return {**part, "held": self.claim}


class PartPosition(NamedTuple):
    """Position of a part, as it was when the part began to arrive.

    It has the digest of the part that has this number, if one has, and the number of members of
    all other parts.
    """

    digest: str | None
    others: int


def create(session: Session, caller: Caller, draft: AudienceDraft, settings: Settings) -> Audience:
    if len(set(draft.groups)) != len(draft.groups):
        raise InvalidRequestError("A group is named twice.")
    if draft.ordered and (len(draft.groups) > 1 or draft.confirmed):
        raise InvalidRequestError("An ordered audience has one group, and is not confirmed.")
    quotas.check_audiences(session, caller.auditor, settings, upload=True)
    row = AudienceRow(
        id=new_id("audience"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        state="open",
        source="upload",
        groups_per_person=draft.groups_per_person,
        participation_code=secrets.token_hex(8) if draft.confirmed else None,
        consented=draft.consented,
        ordered=draft.ordered,
        created_at=now(),
        expires_at=now() + timedelta(hours=settings.upload_kept_hours),
    )
    session.add(row)
    session.flush()
    session.add_all(GroupRow(audience_id=row.id, label=label) for label in draft.groups)
    session.flush()
    return to_wire(session, row)


def get_owned(
    session: Session,
    caller: Caller,
    audience_id: str,
    *,
    lock: Literal["wait", "skip", "no"] = "no",
) -> AudienceRow:
    """Return an audience of the caller's auditor; for other auditors it does not exist."""
    mine = {"audience": audience_id, "auditor": caller.auditor}
    row = session.exec(_WAITED if lock == "wait" else _OWNED, params=mine).first()
    if row is None:
        raise _missing(audience_id)
    if lock == "skip" and not lock_unless_charging(session, audience_id):
        raise ConflictError("The audience is being changed at this moment. Try again.")
    return row


def get_owned_with_groups(
    session: Session, auditor_id: str, audience_id: str
) -> tuple[AudienceRow, Sequence[Any]]:
    """Return an auditor's audience and the public columns of its groups, by one query."""
    mine = {"audience": audience_id, "auditor": auditor_id}
    rows = session.execute(_GROUPED, mine).all()
    if not rows:
        raise _missing(audience_id)
    return rows[0].AudienceRow, rows


def lock_unless_charging(session: Session, audience_id: str) -> AudienceRow | None:
    """Lock the audience for a holder of the ledger lock; return None if it is being changed."""
    query = select(AudienceRow).where(AudienceRow.id == audience_id)
    query = query.with_for_update(key_share=True, skip_locked=True)
    return session.exec(query.execution_options(populate_existing=True)).first()


def get_owned_open(
    session: Session, caller: Caller, audience_id: str, *, lock: Literal["wait", "no"] = "wait"
) -> AudienceRow:
    """Return an audience of the caller's auditor, if it is still open."""
    audience = get_owned(session, caller, audience_id, lock=lock)
    if audience.state != "open":
        raise AudienceSealedError("The audience is sealed. Create a new one to change its members.")
    return audience


def locate_part(
    session: Session, caller: Caller, audience_id: str, label: str, number: int
) -> PartPosition:
    """Return the position for a part of the auditor's audience, if it can still be changed."""
    get_owned_open(session, caller, audience_id, lock="no")
    groups = load_groups(session, audience_id)
    find_group(groups, label)
    where = {"audience": audience_id, "group": label, "part": number}
    rows, digest = session.exec(_FOUND, params=where).first() or (0, None)
    return PartPosition(digest, sum(group.members for group in groups) - rows)


def accept_part(
    session: Session,
    audience: AudienceRow,
    label: str,
    number: int,
    members: Members,
    binding: Binding,
    digest: str,
    settings: Settings,
    seconds: float,
    *,
    instead_of: str | None,
) -> tuple[Part, ClaimedPart]:
    """Accept one part of a group; it replaces the part that had its number when it began to arrive.

    It is matched within `seconds`. A part that was sent since then is newer, so this one is
    refused.
    """
    groups = load_groups(session, audience.id)
    group = find_group(groups, label)
    where = {"audience": audience.id, "group": label, "part": number}
    dropped = session.exec(_DROPPED, params=where).first()
    if dropped is None:
        quotas.check_parts(session, audience.id, settings)
    replaced, there = dropped or (0, None)
    if there not in (instead_of, digest):
        raise ConflictError("The part was changed while this one arrived. Send it again.")
    rows = len(members.identifiers)
    refuse_too_many(sum(each.members for each in groups) - replaced + rows, settings)
    claim = secrets.token_hex(16)
    row = PartRow(
        audience_id=audience.id,
        label=label,
        number=number,
        kind=members.kind,
        rows=rows,
        digest=digest,
        data=b"",
        claim=claim,
        due_at=now() + timedelta(seconds=seconds),
    )
    insert(session, row)
    _keep(session, audience, group, group.members + rows - replaced, settings)
    # This comes last, because parts of one auditor wait for each other from here on.
    quota.count(session, audience.auditor_id, rows, settings)
    accepted = Part(number=number, rows=rows, digest=digest)
    return accepted, ClaimedPart(audience.id, label, number, claim, members, binding, seconds)


def store_matches(store: Store, part: ClaimedPart, found: Persons) -> None:
    """Store the people whom a part found, if it was not replaced or deleted meanwhile."""
    values = {
        "found": found.astype("<i8", copy=False).tobytes(),
        "hashed": part.binding.digest,
        "drawn": similarity_sketches.as_bytes(part.binding.sketch),
    }
    _write(store, _DELIVERED, {**part.where, **values})


def postpone_part(store: Store, part: ClaimedPart, seconds: float) -> None:
    """Record the next public time of a part that is not matched yet."""
    _write(store, _DUE, {**part.where, "due": now() + timedelta(seconds=seconds)})


def give_up_part(store: Store, part: ClaimedPart) -> None:
    """Give a part up: it must be sent again."""
    _write(store, _DUE, {**part.where, "due": EPOCH})


def _write(store: Store, statement: Any, values: dict[str, Any]) -> None:
    with store.write() as session:
        session.connection().execute(statement, values)


def empty_group(session: Session, audience: AudienceRow, label: str, settings: Settings) -> None:
    group = find_group(load_groups(session, audience.id), label)
    session.exec(
        delete(PartRow).where(col(PartRow.audience_id) == audience.id, col(PartRow.label) == label)
    )
    _keep(session, audience, group, 0, settings)


def has_pending_audit(session: Session, audience_id: str) -> bool:
    """Return whether an audit still needs the members."""
    query = select(AuditRow.id).where(
        AuditRow.audience_id == audience_id, col(AuditRow.state).in_(("charged", "running"))
    )
    return session.exec(query).first() is not None


def load_groups(session: Session, audience_id: str) -> list[GroupRow]:
    """Return the groups in order, without their people."""
    rows = session.exec(_GROUPS, params={"audience": audience_id})
    return sorted(rows, key=lambda group: group_order(group.label))


def find_group(groups: list[GroupRow], label: str) -> GroupRow:
    """Return the group of this label, or raise `NotFoundError`."""
    for group in groups:
        if group.label == label:
            return group
    raise NotFoundError(f"The audience has no group {label}.")


def to_wire(session: Session, row: AudienceRow) -> Audience:
    parts: dict[str, list[Part]] = {}
    columns = (PartRow.label, PartRow.number, PartRow.rows, PartRow.digest)
    query = select(*columns).where(PartRow.audience_id == row.id, ~lost_parts())
    for label, number, rows, digest in session.exec(query.order_by(col(PartRow.number))):
        parts.setdefault(label, []).append(Part(number=number, rows=rows, digest=digest))
    fields = row.model_dump(exclude={"auditor_id", "researcher_id"})
    groups = [
        Group(label=group.label, members=group.members, parts=parts.get(group.label, []))
        for group in load_groups(session, row.id)
    ]
    return Audience(**fields, groups=groups)


def lost_parts() -> ColumnElement[bool]:
    """Return the condition for parts that were accepted and will not be matched.

    Their process ended, or the platform was unavailable for too long. They must be sent again.
    """
    return func.coalesce(col(PartRow.due_at) < now() - GRACE, False)


def refuse_too_many(total: int, settings: Settings) -> None:
    if total > settings.max_members:
        raise AudienceTooLargeError(
            f"The audience would have {total} members; the limit is {settings.max_members}. "
            "Nothing of the part was stored."
        )


def _keep(
    session: Session, audience: AudienceRow, group: GroupRow, members: int, settings: Settings
) -> None:
    """Record the new number of members, and extend the upload's life up to its limit."""
    change(session, group, members=members)
    while_touched = now() + timedelta(hours=settings.upload_kept_hours)
    at_most = audience.created_at + timedelta(days=settings.members_kept_days)
    change(session, audience, expires_at=min(while_touched, at_most))


def _missing(audience_id: str) -> NotFoundError:
    return NotFoundError(f"No audience {audience_id}. Create one with POST /v1/audiences.")
