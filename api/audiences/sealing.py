"""Sealing: what was uploaded is committed to and matched, once, and cannot change any more.

Matching happens here and nothing of it is visible: the answer is the same whether everybody matched
or nobody (R2). The identifiers themselves are forgotten; only person numbers stay, and a sketch of
the upload under a key of this deployment.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from api.adapters import call_or_cut
from api.audiences import uploads
from api.audiences.members import Members, tokens
from api.audiences.packing import unpack
from api.auth.caller import Caller
from api.clock import now
from api.errors import AudienceSealedError, ConflictError, EmptyGroupError, UnavailableError
from api.insight import sketches
from api.ledger import append
from api.platform import NOBODY, People, Persons
from api.settings import Settings
from api.store import AudienceRow, GroupRow, OrderRow, PartRow, Store
from openapi.models import Audience
from privacy.commitment import commit, group_digest
from privacy.membership import Membership

_AT_ONCE = 16_384
# A part: the label of its group, its number, and the digest of what was sent.
_Part = tuple[str, int, str]
_OF_AUDIENCE = col(PartRow.audience_id) == bindparam("audience")
_PARTS = (
    select(PartRow.label, PartRow.number, PartRow.digest, PartRow.data)
    .where(_OF_AUDIENCE)
    .order_by(col(PartRow.label), col(PartRow.number))  # as they lie: nothing is sorted
)
_FORGOTTEN = (
    delete(PartRow)
    .where(_OF_AUDIENCE)
    .returning(col(PartRow.label), col(PartRow.number), col(PartRow.digest))
)
_REACHED = select(GroupRow.audience_id, GroupRow.label, GroupRow.people, GroupRow.members).where(
    col(GroupRow.audience_id).in_(bindparam("audiences", expanding=True))
)


def seal(
    store: Store, caller: Caller, audience_id: str, salt: bytes, people: People, settings: Settings
) -> Audience:
    """Commit, match, cut, and forget the identifiers, two of them at a time.

    The platform is asked while nothing is locked, for it may take its time. What was read then is
    what is sealed, or nothing is.
    """
    with store.snapshot() as session:
        audience = _opened(uploads.owned(session, caller, audience_id))
        groups = uploads.groups_of(session, audience_id)
        if empty := [group.label for group in groups if group.members == 0]:
            raise EmptyGroupError(f"nothing was uploaded for {', '.join(empty)}", groups=empty)
        uploaded, parts = _read(session, groups)
    sketch = sketches.new_sketch(settings)
    with ThreadPoolExecutor(1) as beside:
        digests = {
            label: beside.submit(group_digest, sketch.watch(_tokens(members)))
            for label, members in uploaded.items()
        }
        found = [_match(people, members) for members in uploaded.values()]
        matched = _confirmed(people, audience, found)
        # Names are hashed one by one, which takes its time: before anything is locked.
        commitment = commit(salt, {label: each.result() for label, each in digests.items()})
        cut = beside.submit(Membership.cut, matched, audience.groups_per_person)
        with store.write() as session:
            audience = _opened(uploads.owned(session, caller, audience_id, lock="wait"))
            # The database overwrites everything, which takes longer than the cut.
            _forget(session, audience_id, parts)
            if audience.ordered:
                [persons] = matched
                row = OrderRow(audience_id=audience_id, persons=persons.astype("<i8").tobytes())
                session.add(row)
            sketches.keep(session, audience_id, sketch)
            groups = uploads.groups_of(session, audience_id)
            known = audience.participation_code is not None
            close(session, audience, groups, cut.result(), commitment, settings, known=known)
            session.flush()
            return uploads.view(session, audience)


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
        group.people = persons.astype("<i8", copy=False).tobytes()
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
    [found] = reached_all(session, [audience])
    return found


def reached_all(session: Session, audiences: Sequence[AudienceRow]) -> list[Reached]:
    asked = {"audiences": [audience.id for audience in audiences]}
    rows = session.connection().execute(_REACHED, asked).all()
    return [
        _reached(audience, [row for row in rows if row.audience_id == audience.id])
        for audience in audiences
    ]


def _reached(audience: AudienceRow, rows: Iterable[Any]) -> Reached:
    groups = sorted(rows, key=lambda row: uploads.order(row.label))
    people = tuple(np.frombuffer(group.people or b"", "<i8") for group in groups)
    return Reached(
        [group.label for group in groups],
        Membership(people, audience.groups_per_person),
        sum(group.members for group in groups),
    )


def _opened(audience: AudienceRow) -> AudienceRow:
    if audience.state != "open":
        raise AudienceSealedError("the audience is sealed already")
    return audience


def _read(session: Session, groups: list[GroupRow]) -> tuple[dict[str, list[Members]], set[_Part]]:
    """The members by group, in the order of its parts; and which parts these were."""
    members: dict[str, list[Members]] = {group.label: [] for group in groups}
    parts = set()
    rows = session.exec(_PARTS, params={"audience": groups[0].audience_id})
    for label, number, digest, data in rows:
        members[label].append(unpack(data))
        parts.add((label, number, digest))
    return members, parts


def _forget(session: Session, audience_id: str, read: set[_Part]) -> None:
    forgotten = session.exec(_FORGOTTEN, params={"audience": audience_id})
    if {tuple(part) for part in forgotten} != read:
        raise ConflictError("a part arrived while the audience was being sealed; seal it again")


def _tokens(parts: list[Members]) -> Iterator[bytes]:
    """Some at a time: as objects, short names take fifty times the memory they were sent in."""
    for kind, column in parts:
        for start in range(0, len(column), _AT_ONCE):
            yield tokens(kind, column.slice(start, _AT_ONCE))


def _match(people: People, parts: list[Members]) -> Persons:
    found = [_match_or_cut(people, kind, column) for kind, column in parts]
    return np.concatenate([*found, np.empty(0, np.int64)])


def _confirmed(people: People, audience: AudienceRow, matched: list[Persons]) -> list[Persons]:
    """Those who said on the platform that they take part, where that is asked of them."""
    code = audience.participation_code
    if code is None:
        return matched
    takes_part = _answer(lambda: people.confirmed(code))
    return [persons[np.isin(persons, takes_part)] for persons in matched]


def _match_or_cut(people: People, kind: str, identifiers: pa.Array) -> Persons:
    """Whom the identifiers find; one for which the adapter fails finds nobody."""

    def match(start: int, stop: int) -> Persons:
        return np.asarray(people.match(kind, identifiers[start:stop]), dtype=np.int64)

    return _answer(lambda: call_or_cut(match, len(identifiers), np.int64(NOBODY)))


def _answer(call: Callable[[], Persons]) -> Persons:
    """What the platform answers, whoever it is about; else the audience stays open."""
    try:
        return call()
    except Exception as error:
        raise UnavailableError(
            "the platform does not answer; the audience is still open, try again",
            headers={"Retry-After": "5"},
        ) from error
