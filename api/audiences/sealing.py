"""Sealing: a commitment to the upload, made once; the audience cannot change any more.

The people whom the identifiers found are known since the upload (`api.audiences.matching`).
Nothing of that is visible: the response is the same whether everybody matched or nobody (R2).
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from api.audiences import similarity_sketches, uploads
from api.audiences.matching import Matched, match_people, require_answer
from api.audiences.parsing import Members, combine_chunks
from api.db import AudienceRow, GroupRow, OrderRow, PartRow, Store
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import (
    AudienceSealedError,
    ConflictError,
    EmptyGroupError,
    PartsLostError,
    UnavailableError,
)
from api.kernel.settings import Settings
from api.ledger import append
from api.platforms.interfaces import People, Persons
from api.telemetry.metrics import adapter_call
from openapi.resources import Audience
from privacy.commitment import commit, group_digest
from privacy.ledger.entries import FORMAT as LEDGER_FORMAT
from privacy.sketch import merge_sketches
from privacy.tables.membership import Membership

_OF_AUDIENCE = col(PartRow.audience_id) == bindparam("audience")
_PARTS = (
    select(PartRow)
    .where(_OF_AUDIENCE)
    # in the order of the index: nothing is sorted
    .order_by(col(PartRow.label), col(PartRow.number))
)
_WAITING = select(PartRow.label, PartRow.number, PartRow.due_at).where(
    _OF_AUDIENCE, col(PartRow.claim).is_not(None)
)
_FORGOTTEN = (
    delete(PartRow)
    .where(_OF_AUDIENCE)
    .returning(col(PartRow.label), col(PartRow.number), col(PartRow.digest))
    .execution_options(synchronize_session=False)
)


def seal(
    store: Store, caller: Caller, audience_id: str, salt: bytes, people: People, settings: Settings
) -> Audience:
    """Commit to the upload, deduplicate its people, and delete its parts.

    The platform may be slow, so it is asked while nothing is locked. The audience is sealed with
    exactly the parts that were read then, or not at all.
    """
    with store.snapshot() as session:
        audience = _opened(uploads.get_owned(session, caller, audience_id))
        groups = uploads.load_groups(session, audience_id)
        if empty := [group.label for group in groups if group.members == 0]:
            raise EmptyGroupError(f"Nothing was uploaded for {', '.join(empty)}.", groups=empty)
        _refuse_unmatched(session, audience_id)
        parts = session.exec(_PARTS, params={"audience": audience_id}).all()
    found: dict[str, list[Matched]] = {group.label: [] for group in groups}
    for part in parts:
        found[part.label].append(_kept(part, people, settings))
    commitment = commit(
        salt, {label: group_digest(part.digest for part in own) for label, own in found.items()}
    )
    sketch = merge_sketches(part.sketch for own in found.values() for part in own)
    persons = [np.concatenate([part.persons for part in own]) for own in found.values()]
    persons = _confirmed(people, audience, persons)
    with ThreadPoolExecutor(1) as background:
        membership = background.submit(Membership.from_groups, persons, audience.groups_per_person)
        with store.write() as session:
            audience = _opened(uploads.get_owned(session, caller, audience_id, lock="wait"))
            # The database overwrites every part, which takes longer than the deduplication.
            _forget(session, audience_id, parts)
            if audience.ordered:
                [order] = persons
                row = OrderRow(audience_id=audience_id, persons=order.astype("<i8").tobytes())
                session.add(row)
            similarity_sketches.store_sketch(session, audience_id, sketch)
            groups = uploads.load_groups(session, audience_id)
            known = audience.participation_code is not None
            close(session, audience, groups, membership.result(), commitment, settings, known=known)
            session.flush()
            return uploads.to_wire(session, audience)


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
    """Record the people of each group; with `known=True` their number is public."""
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
            "format": LEDGER_FORMAT,
            "audience_id": audience.id,
            "source": audience.source_for_kinds,
            "groups": len(groups),
            "groups_per_person": audience.groups_per_person,
            "candidates": audience.candidates,
            "commitment": commitment,
            "sizes": "known" if known else "noisy",
            **({"consented": True} if audience.consented else {}),
            "by": audience.researcher_id,
        },
        audience.auditor_id,
    )


def keep_until(moment: datetime, settings: Settings) -> datetime:
    return moment + timedelta(days=settings.members_kept_days)


class NotMatchedError(UnavailableError):
    """Parts are not matched yet; they will be at a public time, `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(
            "Parts of the audience are still being matched. Nothing was sealed. Try again.",
            headers={"Retry-After": "5"},
        )
        self.until = until


def _refuse_unmatched(session: Session, audience_id: str) -> None:
    """Raise if parts are not matched yet, or if they were lost."""
    waiting = session.connection().execute(_WAITING, {"audience": audience_id}).all()
    if not waiting:
        return
    due = max(part.due_at for part in waiting)
    if due >= now() - uploads.GRACE:
        raise NotMatchedError(due)
    names = ", ".join(f"{part.label}/{part.number}" for part in waiting[:10])
    raise PartsLostError(
        f"Accepted parts were lost before they were matched: {names}. Nothing was sealed. Send"
        " them again, then seal the audience.",
        parts=[{"label": part.label, "number": part.number} for part in waiting],
    )


def _opened(audience: AudienceRow) -> AudienceRow:
    if audience.state != "open":
        raise AudienceSealedError("The audience is sealed already.")
    return audience


def _kept(part: PartRow, people: People, settings: Settings) -> Matched:
    """Return the match of a part, made on arrival or, for parts before migration 0014, now."""
    if part.tokens is None or part.sketch is None:
        table = pa.ipc.open_stream(pa.py_buffer(part.data)).read_all()
        members = Members(part.kind, combine_chunks(table.column(0)))
        return match_people(people, members, settings)
    persons = np.frombuffer(part.data, "<i8")
    return Matched(part.kind, persons, part.tokens, similarity_sketches.from_bytes(part.sketch))


def _forget(session: Session, audience_id: str, read: Iterable[PartRow]) -> None:
    forgotten = session.exec(_FORGOTTEN, params={"audience": audience_id})
    if {tuple(part) for part in forgotten} != {(p.label, p.number, p.digest) for p in read}:
        raise ConflictError("A part arrived during the sealing. Nothing was sealed. Seal again.")


def _confirmed(people: People, audience: AudienceRow, matched: list[Persons]) -> list[Persons]:
    """Return the people who confirmed on the platform, if a code is required."""
    code = audience.participation_code
    if code is None:
        return matched
    takes_part = require_answer(adapter_call("confirmed")(lambda: people.confirmed(code)))
    return [persons[np.isin(persons, takes_part)] for persons in matched]
