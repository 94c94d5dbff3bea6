"""Sealing: what was uploaded is committed to and matched, once, and cannot change any more.

Matching happens here and nothing of it is visible: the answer is the same whether everybody matched
or nobody (R2). The identifiers themselves are forgotten; only person numbers stay, and a sketch of
the upload under a key of this deployment.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from api.adapters import call_or_cut
from api.audiences.members import Members, tokens
from api.audiences.packing import unpack
from api.audiences.uploads import groups_of, order
from api.clock import now
from api.errors import AudienceSealedError, EmptyGroupError, UnavailableError
from api.insight import sketches
from api.ledger import append
from api.platform import NOBODY, People, Persons
from api.settings import Settings
from api.store import AudienceRow, GroupRow, OrderRow, PartRow
from privacy.commitment import commit, group_digest
from privacy.membership import Membership

_AT_ONCE = 16_384
_REACHED = select(GroupRow.label, GroupRow.people, GroupRow.members).where(
    GroupRow.audience_id == bindparam("audience")
)


def seal(
    session: Session, audience: AudienceRow, salt: bytes, people: People, settings: Settings
) -> None:
    """Commit, match, cut, and forget the identifiers."""
    if audience.state != "open":
        raise AudienceSealedError("the audience is sealed already")
    groups = groups_of(session, audience.id)
    if empty := [group.label for group in groups if group.members == 0]:
        raise EmptyGroupError(f"nothing was uploaded for {', '.join(empty)}", groups=empty)
    digests, matched, sketch = {}, [], sketches.new_sketch(settings)
    with ThreadPoolExecutor(1) as beside:
        for group in groups:
            parts = _parts(session, group)
            digest = beside.submit(group_digest, sketch.watch(_tokens(parts)))
            # While they are hashed, the database overwrites them; if sealing fails, it did not.
            _forget(session, group)
            matched.append(_match(people, parts))
            digests[group.label] = digest.result()
    known = audience.participation_code is not None
    if known:
        takes_part = _answer(lambda: people.confirmed(audience.participation_code or ""))
        matched = [persons[np.isin(persons, takes_part)] for persons in matched]
    if audience.ordered:
        [persons] = matched
        session.add(OrderRow(audience_id=audience.id, persons=persons.astype("<i8").tobytes()))
    membership = Membership.cut(matched, audience.groups_per_person)
    sketches.keep(session, audience.id, sketch)
    close(session, audience, groups, membership, commit(salt, digests), settings, known=known)


def close(
    session: Session,
    audience: AudienceRow,
    groups: list[GroupRow],
    membership: Membership,
    commitment: str,
    settings: Settings,
    *,
    known: bool,
) -> None:
    """Write down whom each group reached; `known` where their number is public."""
    for group, persons in zip(groups, membership.groups, strict=True):
        group.people = persons.astype("<i8").tobytes()
        group.known_size = len(persons) if known else None
        session.add(group)
    audience.state = "sealed"
    audience.commitment = commitment
    audience.sealed_at = now()
    audience.expires_at = keep_until(audience.sealed_at, settings)
    session.add(audience)
    append(
        session,
        "audience",
        {
            "audience_id": audience.id,
            "source": audience.source,
            "commitment": commitment,
            "sizes": "known" if known else "noisy",
            **({"consented": True} if audience.consented else {}),
            "by": audience.researcher_id,
        },
        audience.auditor_id,
    )


def keep_until(moment: datetime, settings: Settings) -> datetime:
    return moment + timedelta(days=settings.members_kept_days)


@dataclass(frozen=True)
class Reached:
    """Whom a sealed audience reached, by the labels of its groups; so many were uploaded."""

    labels: list[str]
    membership: Membership
    uploaded: int


def reached(session: Session, audience: AudienceRow) -> Reached:
    rows = session.exec(_REACHED, params={"audience": audience.id}).all()
    labels, people, members = zip(*sorted(rows, key=lambda row: order(row[0])), strict=True)
    groups = tuple(np.frombuffer(each or b"", "<i8") for each in people)
    return Reached(list(labels), Membership(groups, audience.groups_per_person), sum(members))


def _parts(session: Session, group: GroupRow) -> list[Members]:
    query = select(PartRow.kind, PartRow.data).where(
        PartRow.audience_id == group.audience_id, PartRow.label == group.label
    )
    parts = session.exec(query.order_by(col(PartRow.number)))
    return [unpack(kind, data) for kind, data in parts]


def _forget(session: Session, group: GroupRow) -> None:
    session.exec(
        delete(PartRow).where(
            col(PartRow.audience_id) == group.audience_id, col(PartRow.label) == group.label
        )
    )


def _tokens(parts: list[Members]) -> Iterator[bytes]:
    """Some at a time: as objects, short names take fifty times the memory they were sent in."""
    for kind, column in parts:
        for start in range(0, len(column), _AT_ONCE):
            yield tokens(kind, column.slice(start, _AT_ONCE))


def _match(people: People, parts: list[Members]) -> Persons:
    found = [_match_or_cut(people, kind, column) for kind, column in parts]
    return np.concatenate([*found, np.empty(0, np.int64)])


def _match_or_cut(people: People, kind: str, identifiers: pa.Array) -> Persons:
    """Whom the identifiers find; one for which the adapter fails finds nobody."""

    def match(start: int, stop: int) -> Persons:
        return np.asarray(people.match(kind, identifiers[start:stop]), dtype=np.int64)

    return _answer(lambda: call_or_cut(match, np.full(len(identifiers), NOBODY, np.int64)))


def _answer(call: Callable[[], Persons]) -> Persons:
    """What the platform answers, whoever it is about; else the audience stays open."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            "the platform does not answer; the audience is still open, try again",
            headers={"Retry-After": "5"},
        ) from error
