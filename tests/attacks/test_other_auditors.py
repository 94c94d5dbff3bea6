"""Another auditor's ids: guessed or overheard, they open nothing, and do not even exist."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from sqlmodel import Session

from api import contents, submissions
from api.audiences import uploads
from api.store import AudienceRow, AuditRow, ContentRow
from platform_sim import World
from tests.attacks.outside import HISTOGRAM, run
from tests.system.raw import CSV, SALT, Raw, raw, request_for, usernames
from tests.world import Deployment

NOWHERE = "0" * 30


@pytest.fixture(scope="module")
def victim(target: Deployment, world: World) -> dict[str, str]:
    """What another auditor owns: a content, an open and a sealed audience, a released audit."""
    me = raw(target, target.auditor())
    content, groups = me.content(), {"g0": usernames(world, 10)}
    sealed, opened = me.audience(groups), me.audience(groups, seal=False)
    audit = me.submit(request_for(content, sealed, kind=HISTOGRAM, epsilon="0.01")).json()
    run(target)
    return {
        "content": content["id"],
        "sealed": sealed["id"],
        "opened": opened["id"],
        "audit": audit["id"],
    }


def attempts(me: Raw, ids: dict[str, str]) -> Iterator[tuple[str, httpx2.Response]]:
    """Everything that takes an id, with these."""
    members = {"content": b"username\nada\n", "headers": {"content-type": CSV}}
    content, audience = {"id": ids["content"]}, {"id": ids["sealed"]}
    mine = me.content()
    yield "audit", me.get(f"/v1/audits/{ids['audit']}")
    yield "release", me.get(f"/v1/audits/{ids['audit']}/release")
    yield "events", me.get(f"/v1/audits/{ids['audit']}/events")
    yield "audience", me.get(f"/v1/audiences/{ids['sealed']}")
    yield "content", me.get(f"/v1/contents/{ids['content']}")
    yield "price", me.post("/v1/audits/price", request_for(mine, audience, kind=HISTOGRAM))
    yield "submit", me.submit(request_for(mine, audience, kind=HISTOGRAM, epsilon="0.01"))
    yield "on content", me.submit(request_for(content, audience, kind=HISTOGRAM, epsilon="0.01"))
    yield "cancel", me.post(f"/v1/audits/{ids['audit']}/cancel")
    path = f"/v1/audiences/{ids['opened']}"
    yield "put", me.call("PUT", f"{path}/groups/g0/members", **members)
    yield "seal", me.post(f"{path}/seal", {"salt": SALT})
    yield "delete", me.call("DELETE", path)


def plain(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, re.sub(r"[a-z]+_[0-9a-f]{30}", "…", answer.text)


def test_another_auditors_ids_look_like_ids_that_never_were(
    target: Deployment, victim: dict[str, str]
) -> None:
    me = raw(target, target.auditor())
    nothing = {name: f"{value.partition('_')[0]}_{NOWHERE}" for name, value in victim.items()}
    pairs = zip(attempts(me, victim), attempts(me, nothing), strict=True)
    for (what, theirs), (_, nobodys) in pairs:
        assert theirs.status_code == 404, what
        assert plain(theirs) == plain(nobodys), what
    for listing in ("audits", "audiences", "contents"):
        text = me.get(f"/v1/{listing}").text
        assert not any(value in text for value in victim.values())


def unguarded(table: type[Any]) -> Callable[..., Any]:
    """The twin: whoever knows the id, owns it."""

    def owned(session: Session, caller: object, row_id: str, *, lock: bool = False) -> Any:
        return session.get(table, row_id)

    return owned


def test_without_the_owner_in_the_query_an_id_opens_everything(
    target: Deployment, victim: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "owned", unguarded(AudienceRow))
    monkeypatch.setattr(submissions, "owned", unguarded(AuditRow))
    monkeypatch.setattr(contents, "owned", unguarded(ContentRow))
    me = raw(target, target.auditor())
    for what, answer in attempts(me, victim):
        # A released audit is not to be cancelled by anybody.
        assert answer.is_success or what == "cancel", (what, answer.text)
    run(target)
