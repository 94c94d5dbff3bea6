"""Memberships: the people of stored groups, and the people among them whom an audit debits (R4).

The people of a hidden audience are not in its groups: a run records them with its charge.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import and_, bindparam
from sqlmodel import Session, col, select

from api.accounting import lifetime_caps
from api.db import AudienceRow, ChargedPeopleRow, ExclusionRow, GroupRow
from privacy.plans import has_fixed_slots
from privacy.tables.membership import Membership

HIDDEN = "hidden"
# Join to the row of the people within the cap; a group without such a row has nobody above it.
OF_THE_GROUP = and_(
    col(ExclusionRow.audit_id) == bindparam("audit"),
    col(ExclusionRow.label) == col(GroupRow.label),
)
_CHARGED = (
    select(col(GroupRow.label), col(GroupRow.members), col(GroupRow.people), col(ExclusionRow.able))
    .outerjoin(ExclusionRow, OF_THE_GROUP)
    .where(col(GroupRow.audience_id) == bindparam("audience"))
)
_SEALED = select(GroupRow.audience_id, GroupRow.label, GroupRow.people, GroupRow.members).where(
    col(GroupRow.audience_id).in_(bindparam("audiences", expanding=True))
)


@dataclass(frozen=True)
class SealedAudience:
    """People of a sealed audience, by group label, and the number of identifiers in the upload."""

    labels: list[str]
    membership: Membership
    uploaded: int


def can_displace_people(audience: AudienceRow) -> bool:
    """Return whether adding one person may remove another."""
    return has_fixed_slots(audience.source)


def group_order(label: str) -> int:
    """Return the sort key of a group label: g0, g1, …, g10."""
    return int(label[1:])


def load_membership(session: Session, audience: AudienceRow) -> SealedAudience:
    """Return the people of a sealed audience."""
    [found] = load_memberships(session, [audience])
    return found


def load_memberships(session: Session, audiences: Sequence[AudienceRow]) -> list[SealedAudience]:
    """Return the people of several sealed audiences, by one query."""
    asked = {"audiences": [audience.id for audience in audiences]}
    rows = session.connection().execute(_SEALED, asked).all()
    return [
        _sealed(audience, [row for row in rows if row.audience_id == audience.id])
        for audience in audiences
    ]


def load_charged_members(
    session: Session, audit_id: str, audience: AudienceRow
) -> tuple[Membership, int]:
    """Return the people whom an audit debits and reads, and the number of identifiers uploaded.

    One query reads the people and the exclusions, so that neither can change in between.
    """
    asked = {"audit": audit_id, "audience": audience.id}
    rows = session.connection().execute(_CHARGED, asked).all()
    uploaded = sum(row.members for row in rows)
    if audience.source != HIDDEN:
        return select_charged_members(audience, rows), uploaded
    found = session.get(ChargedPeopleRow, audit_id)
    people = np.frombuffer(b"" if found is None else found.people, "<i8")
    return Membership((people,), 1), uploaded


def select_charged_members(audience: AudienceRow, rows: Sequence[Any]) -> Membership:
    """Return the charged people from rows of groups with label, people and mask."""
    groups = sorted(rows, key=lambda row: group_order(row.label))
    people = tuple(
        lifetime_caps.encode_people_within_cap(group.people or b"", group.able) for group in groups
    )
    return Membership(people, audience.groups_per_person)


def _sealed(audience: AudienceRow, rows: Iterable[Any]) -> SealedAudience:
    groups = sorted(rows, key=lambda row: group_order(row.label))
    people = tuple(np.frombuffer(group.people or b"", "<i8") for group in groups)
    return SealedAudience(
        [group.label for group in groups],
        Membership(people, audience.groups_per_person),
        sum(group.members for group in groups),
    )
