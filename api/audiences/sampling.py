"""Audiences that the platform draws ([IKH23], §4.3.1): the auditor gets a handle and exact sizes.

The available sizes are public figures of the catalogue. A request above them is refused for that
reason alone; below them the size is exact, and known.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023.
"""

import secrets
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from sqlmodel import Session

from api.audiences.sealing import close, keep_until
from api.audiences.uploads import load_groups, to_wire
from api.db import AudienceRow, GroupRow, Store
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import InvalidRequestError, UnavailableError, UnavailableSampleError
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import lock
from api.platforms.interfaces import People, Persons
from api.telemetry.metrics import adapter_call
from api.web.quotas import check_audiences
from openapi.resources import Audience, SampleDraft
from privacy.commitment import commit, group_digest, part_digest
from privacy.tables.membership import Membership

Answer = TypeVar("Answer")


def draw(
    store: Store, caller: Caller, draft: SampleDraft, people: People, settings: Settings
) -> Audience:
    """Draw a sample and seal it at once. The platform is asked while nothing is locked."""
    _check(draft, people)
    drawn = _answer(lambda: _drawn(draft, people))
    with store.write() as session:
        return _sealed(session, caller, draft, drawn, settings)


def _sealed(
    session: Session,
    caller: Caller,
    draft: SampleDraft,
    drawn: dict[str, Persons],
    settings: Settings,
) -> Audience:
    lock(session)
    check_audiences(session, caller.auditor, settings)
    audience = AudienceRow(
        id=new_id("audience"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        state="open",
        source="sample",
        groups_per_person=1,
        consented=draft.consented,
        created_at=now(),
        expires_at=keep_until(now(), settings),
    )
    session.add(audience)
    session.flush()
    by_label = {group.label: group for group in draft.groups}
    session.add_all(
        GroupRow(audience_id=audience.id, label=label, members=group.size)
        for label, group in by_label.items()
    )
    session.flush()
    groups = load_groups(session, audience.id)
    membership = Membership.from_groups([drawn[group.label] for group in groups], 1)
    if [len(members) for members in membership.groups] != [group.members for group in groups]:
        raise _unavailable(
            "The platform did not draw the sample that it offers. Nothing was stored."
        )
    # There is no upload: the platform commits to the people it drew, under a salt that it forgets.
    digests = {
        group.label: group_digest([part_digest([members.astype("<i8").tobytes()])])
        for group, members in zip(groups, membership.groups, strict=True)
    }
    commitment = commit(secrets.token_bytes(32), digests)
    close(session, audience, groups, membership, commitment, settings, known=True)
    return to_wire(session, audience)


def _drawn(draft: SampleDraft, people: People) -> dict[str, Persons]:
    """Return the people whom the platform draws, by label, with the system's randomness (R6)."""
    sizes = {group.value: group.size for group in draft.groups}
    chance = np.random.default_rng(secrets.randbits(256))
    with adapter_call("sample"):
        drawn = people.sample(draft.attribute, sizes, chance)
    return {group.label: np.asarray(drawn[group.value], np.int64) for group in draft.groups}


def _answer(call: Callable[[], Answer]) -> Answer:
    """Return the platform's answer, or raise `UnavailableError` for an error of any cause."""
    try:
        return call()
    except Exception as error:  # an adapter may raise anything
        raise _unavailable("The platform does not answer. Nothing was drawn. Try again.") from error


def _unavailable(why: str) -> UnavailableError:
    return UnavailableError(why, headers={"Retry-After": "5"})


def _check(draft: SampleDraft, people: People) -> None:
    labels = {group.label for group in draft.groups}
    values = {group.value for group in draft.groups}
    if len(labels) != len(draft.groups) or len(values) != len(draft.groups):
        raise InvalidRequestError("A label or a value occurs twice.")
    offered = _answer(people.offers).get(draft.attribute, {})
    for group in draft.groups:
        available = offered.get(group.value, 0)
        if group.size > available:
            raise UnavailableSampleError(
                f"{group.size} people requested with {draft.attribute} {group.value}, "
                f"{available} available. See GET /v1/catalogue.",
                available=available,
            )
