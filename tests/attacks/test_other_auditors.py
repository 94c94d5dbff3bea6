"""Another auditor's ids: guessed or overheard, they open nothing, and do not even exist."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from api.audiences import uploads
from api.audits import queries, submission
from api.contents import service as contents
from api.db import AudienceRow, AuditRow, ContentRow, GroupRow, MandateRow, ReleaseRow
from api.mandates import service as mandates
from platform_sim import World
from tests.attacks.outside import HISTOGRAM, run
from tests.system.raw import CSV, SALT, Raw, raw, refused, request_for, usernames
from tests.world import Deployment

NOWHERE = "0" * 30


@pytest.fixture(scope="module")
def victim(target: Deployment, world: World) -> dict[str, str]:
    """Return another auditor's content, open and sealed audience, and released audit."""
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
    batch = [request_for(mine, audience, kind=HISTOGRAM)]
    yield "prices", me.post("/v1/audits/prices", batch)
    yield "submit", me.submit(request_for(mine, audience, kind=HISTOGRAM, epsilon="0.01"))
    yield "on content", me.submit(request_for(content, audience, kind=HISTOGRAM, epsilon="0.01"))
    yield "cancel", me.post(f"/v1/audits/{ids['audit']}/cancel")
    path = f"/v1/audiences/{ids['opened']}"
    yield "empty", me.call("DELETE", f"{path}/groups/g0")
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
    """The vulnerable twin: anybody who knows the id owns the object."""

    def owned(session: Session, caller: object, row_id: str, *, lock: bool = False) -> Any:
        return session.get(table, row_id)

    return owned


def test_without_the_owner_in_the_query_an_id_opens_everything(
    target: Deployment, victim: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "get_owned", unguarded(AudienceRow))
    monkeypatch.setattr(queries, "get_owned", unguarded(AuditRow))
    monkeypatch.setattr(contents, "get_owned", unguarded(ContentRow))
    digests = select(ContentRow.id, ContentRow.digest).where(contents._THESE)
    monkeypatch.setattr(contents, "_DIGESTS", digests)
    grouped = (
        select(AudienceRow, *uploads.SIZES)
        .join(GroupRow, col(GroupRow.audience_id) == col(AudienceRow.id))
        .where(AudienceRow.id == bindparam("audience"))
    )
    monkeypatch.setattr(uploads, "_GROUPED", grouped)
    release = (
        select(AuditRow.state, ReleaseRow.body, ReleaseRow.entry)
        .join(ReleaseRow, col(ReleaseRow.audit_id) == col(AuditRow.id))
        .where(AuditRow.id == bindparam("audit"))
    )
    monkeypatch.setattr(queries, "_RELEASE", release)
    state = select(AuditRow.state).where(AuditRow.id == bindparam("audit"))
    monkeypatch.setattr(queries, "_STATE", state)
    me = raw(target, target.auditor())
    for what, answer in attempts(me, victim):
        # A released audit is not to be cancelled by anybody.
        assert answer.is_success or what == "cancel", (what, answer.text)
    run(target)


def owning(target: Deployment, world: World) -> tuple[Raw, dict[str, Any]]:
    """An auditor, and a request of theirs that costs 0.02."""
    me = raw(target, target.auditor())
    audience = me.audience({"g0": usernames(world, 10)})
    asked = {"kind": HISTOGRAM, "epsilon": "0.01", "size_epsilon": "0"}
    return me, request_for(me.content(), audience, **asked)


def mandate_of(me: Raw) -> dict[str, Any]:
    [mandate] = me.get("/v1/budget").json()["mandates"]
    return dict(mandate)


def test_another_auditors_mandate_pays_nothing(target: Deployment, world: World) -> None:
    victim, _ = owning(target, world)
    me, body = owning(target, world)
    theirs = me.submit(body | {"mandate_id": mandate_of(victim)["id"]})
    nobodys = me.submit(body | {"mandate_id": f"mandate_{NOWHERE}"})
    refused(theirs, "no-mandate")
    assert plain(theirs) == plain(nobodys)
    assert mandate_of(victim)["spent"] == mandate_of(me)["spent"] == "0"


def test_without_the_owner_check_anybody_who_names_a_mandate_spends_it(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = mandates.select_payer

    def generous(
        session: Session, found: Any, kind: str, price: Any, named: Any, *rest: Any, **how: Any
    ) -> MandateRow:
        anybodys = [session.get_one(MandateRow, named)]
        return original(session, anybodys, kind, price, named, *rest, **how)

    monkeypatch.setattr(mandates, "select_payer", generous)
    victim, _ = owning(target, world)
    me, body = owning(target, world)
    assert me.submit(body | {"mandate_id": mandate_of(victim)["id"]}).is_success
    assert (mandate_of(victim)["spent"], mandate_of(me)["spent"]) == ("0.02", "0")
    run(target)


def test_another_auditors_idempotency_key_is_as_good_as_new(
    target: Deployment, world: World
) -> None:
    (victim, theirs), (me, mine) = owning(target, world), owning(target, world)
    first = victim.submit(theirs, key="a-key-of-two").json()
    second = me.submit(mine, key="a-key-of-two")
    assert second.is_success
    assert second.json()["id"] != first["id"]
    run(target)


def test_shared_idempotency_keys_would_reveal_other_auditors(
    target: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    since, earlier = submission._changes_since_pricing, submission._original_response

    def owner_of(session: Session, order: Any) -> str:
        query = select(AuditRow.auditor_id).where(AuditRow.idempotency_key == order.statement.key)
        return session.exec(query).first() or ""

    def shared(session: Session, orders: Any) -> Any:
        sealed, tried = since(session, orders)
        return sealed, tried | {order.key for order in orders if owner_of(session, order)}

    def anybodys(session: Session, order: Any) -> Any:
        owner = replace(order.caller, auditor_id=owner_of(session, order))
        return earlier(session, replace(order, caller=owner))

    monkeypatch.setattr(submission, "_changes_since_pricing", shared)
    monkeypatch.setattr(submission, "_original_response", anybodys)
    (victim, theirs), (me, mine) = owning(target, world), owning(target, world)
    first = victim.submit(theirs, key="a-key-of-both").json()
    refused(me.submit(mine, key="a-key-of-both"), "idempotency-conflict", first["id"])
    run(target)
