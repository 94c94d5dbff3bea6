"""Uploads while something else happens: a platform that is slow or gone, others who write."""

import json
import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any, cast

import httpx2
import pyarrow as pa
import pytest
from sqlalchemy import select
from sqlmodel import col

from api.app.container import Container
from api.audiences import sampling, sealing, uploads
from api.audiences import service as audiences
from api.audiences.background_matcher import Matcher
from api.audiences.erasure import erase
from api.audiences.expiry import purge_expired
from api.audiences.matching_slots import Ticket
from api.db import AudienceRow, EntryRow, Store
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import AudienceSealedError, UnavailableError
from api.kernel.errors import ConflictError as ApiConflictError
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import People, Persons, Platform
from auditor_client import Auditor
from auditor_client.audiences.parts import commitment
from openapi.resources import SampleDraft
from platform_sim import World
from privacy.tables.membership import Membership
from tests.conftest import new_postgresql
from tests.refusals import refuses
from tests.system.raw import (
    SALT,
    csv,
    matched,
    raw,
    refused,
    request_for,
    unchanged,
    usernames,
)
from tests.system.test_uploads import move_expiry, on_sqlite, rows_of_parts
from tests.world import Deployment, deployed


def caller_of(auditor: Auditor) -> Caller:
    mandate = auditor.budget().mandates[0]
    return Caller(auditor._researcher_id, "Ada", "auditor", mandate.auditor_id)


class Gone:
    """A platform that does not answer."""

    def match(self, *_: object) -> Persons:
        raise PlatformDownError("gone")

    def confirmed(self, _: str) -> Persons:
        raise PlatformDownError("gone")


def test_a_part_that_cannot_be_matched_is_not_kept(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.audience({"g0": ["ada"]}, seal=False)
    with unchanged(service.store), monkeypatch.context() as patch:
        patch.setattr(type(service.platform.people), "match", Gone.match)
        answer = me.put(opened["id"], "g0", csv(["grace"]))
        refused(answer, "unavailable", "still open", "again")
        assert answer.headers["retry-after"] == "5"
    sent = {"g0": [pa.array(["ada"])]}
    assert me.seal(opened["id"])["commitment"] == commitment(b64decode(SALT), "username", sent)


def test_a_sealing_that_fails_forgets_nothing(deployment: Deployment) -> None:
    service, auditor = deployment.service, deployment.auditor()
    me = raw(deployment, auditor)
    opened = me.audience({"g0": ["ada"], "g1": ["grace"]}, seal=False, confirmed=True)
    people = cast("People", Gone())
    matched(service.store)

    with unchanged(service.store), refuses(UnavailableError, "platform-silent"):
        sealing.seal(
            service.store,
            caller_of(auditor),
            opened["id"],
            b64decode(SALT),
            people,
            service.settings,
        )
    sent = {"g0": [pa.array(["ada"])], "g1": [pa.array(["grace"])]}
    assert me.seal(opened["id"])["commitment"] == commitment(b64decode(SALT), "username", sent)


def test_people_are_cut_while_parts_are_overwritten(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, auditor = deployment.service, deployment.auditor()
    opened = raw(deployment, auditor).audience({"g0": ["ada"]}, seal=False)
    matched(service.store)
    began = {step: threading.Event() for step in ("forget", "group")}

    def beside(step: str, other: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def both(*arguments: Any) -> Any:
            began[step].set()
            assert began[other].wait(10), f"{step} was done without {other}"
            return work(*arguments)

        return both

    monkeypatch.setattr(sealing, "_forget", beside("forget", "group", sealing._forget))
    monkeypatch.setattr(
        Membership, "from_groups", beside("group", "forget", Membership.from_groups)
    )
    sealed = sealing.seal(
        service.store,
        caller_of(auditor),
        opened["id"],
        b64decode(SALT),
        service.platform.people,
        service.settings,
    )
    assert sealed.commitment == commitment(b64decode(SALT), "username", {"g0": [pa.array(["ada"])]})


def test_nobody_pays_for_an_audience_that_is_being_erased(
    deployment: Deployment, world: World
) -> None:
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    sealed, content = me.audience({"g0": usernames(world, 5)}), me.content()
    answers: list[httpx2.Response] = []
    body = request_for(content, sealed)
    submitting = threading.Thread(target=lambda: answers.append(me.submit(body)))
    with store.write() as session:
        row = session.get_one(AudienceRow, sealed["id"], with_for_update=True)
        erase(session, row)
        session.flush()
        submitting.start()
        submitting.join(0.5)  # it finds the audience as it was, and has to wait
        assert not answers
    submitting.join()
    refused(answers[0], "audience-not-sealed", "erased", "charged")
    assert me.get("/v1/budget").json()["mandates"][0]["spent"] == "0"


def test_an_audience_that_is_being_written_to_is_deleted_later_or_not_at_all(
    deployment: Deployment, world: World
) -> None:
    """On SQLite other transactions wait for the writer."""
    service, auditor = deployment.service, deployment.auditor()
    me = raw(deployment, auditor)
    opened = me.audience({"g0": usernames(world, 5)}, seal=False)
    answers: list[httpx2.Response] = []
    path = f"/v1/audiences/{opened['id']}"
    deleting = threading.Thread(target=lambda: answers.append(me.call("DELETE", path)))
    with service.store.write() as session:
        uploads.get_owned_open(session, caller_of(auditor), opened["id"])
        deleting.start()
        deleting.join(0.5 if on_sqlite(service.store) else None)
    deleting.join()
    if not on_sqlite(service.store):
        refused(answers.pop(), "conflict", "again")
        answers.append(me.call("DELETE", path))
    assert answers[0].status_code == 204
    assert me.get(path).json()["state"] == "erased"


class Meddled:
    """A platform that takes its time to answer, in which something else is done."""

    def __init__(self, people: People, meanwhile: Callable[[], object]) -> None:
        self._people = people
        self._meanwhile = meanwhile

    def confirmed(self, code: str) -> Persons:
        self._meanwhile()
        return self._people.confirmed(code)

    def offers(self) -> Any:
        return self._people.offers()

    def sample(self, *asked: Any) -> Any:
        self._meanwhile()
        return self._people.sample(*asked)


def test_nobody_waits_while_a_sample_is_drawn(deployment: Deployment) -> None:
    service, auditor = deployment.service, deployment.auditor()
    me = raw(deployment, auditor)
    people = cast("People", Meddled(service.platform.people, me.content))
    attribute, values = next(iter(people.offers().items()))
    group = {"label": "g0", "value": next(iter(values)), "size": 3}
    draft = SampleDraft.model_validate({"attribute": attribute, "groups": [group]})
    drawn = sampling.draw(service.store, caller_of(auditor), draft, people, service.settings)
    assert (drawn.state, drawn.groups[0].members) == ("sealed", 3)


@pytest.mark.parametrize("left", ["open", "sealed", "erased"])
def test_what_changes_while_the_platform_is_asked_is_not_sealed_unread(
    deployment: Deployment, left: str
) -> None:
    """Nor does anybody wait for the platform who wants to write."""
    service, auditor = deployment.service, deployment.auditor()
    me = raw(deployment, auditor)
    opened = me.audience({"g0": ["ada"]}, seal=False, confirmed=True)["id"]
    matched(service.store)
    path = f"/v1/audiences/{opened}"
    meanwhile: dict[str, Callable[[], object]] = {
        "open": lambda: me.put(opened, "g0", csv(["grace"], "username")),
        "sealed": lambda: me.seal(opened),
        "erased": lambda: me.call("DELETE", path),
    }
    people = cast("People", Meddled(service.platform.people, meanwhile[left]))
    with pytest.raises((ApiConflictError, AudienceSealedError)) as raised:
        sealing.seal(
            service.store, caller_of(auditor), opened, b64decode(SALT), people, service.settings
        )
    assert me.get(path).json()["state"] == left
    if left == "open":
        assert "Nothing was sealed" in str(raised.value)
        sent = {"g0": [pa.array(["grace"])]}
        assert me.seal(opened)["commitment"] == commitment(b64decode(SALT), "username", sent)


@contextmanager
def meanwhile_matching(
    service: Container, patch: pytest.MonkeyPatch, meanwhile: Callable[[], object]
) -> Iterator[None]:
    """While the platform matches somebody, once, something else is done."""
    service.matcher.drain(60)
    people, waiting = type(service.platform.people), [meanwhile]
    match = people.match

    def slow(*asked: Any) -> Persons:
        if waiting and len(asked[-1]):
            waiting.pop()()
        return match(*asked)

    with patch.context() as patched:
        patched.setattr(people, "match", slow)
        yield
        service.matcher.drain(60)


@pytest.mark.parametrize("then", ["replaced", "emptied"])
def test_a_part_that_took_long_to_match_does_not_undo_what_came_after(
    deployment: Deployment, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was answered for at once, and something else was sent since."""
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    path = f"/v1/audiences/{opened}"
    if then == "emptied":
        me.put(opened, "g0", csv(["before"]))
    after: dict[str, Callable[[], object]] = {
        "replaced": lambda: me.put(opened, "g0", csv(["newer"])),
        "emptied": lambda: me.call("DELETE", f"{path}/groups/g0"),
    }
    with meanwhile_matching(service, monkeypatch, after[then]):
        assert me.put(opened, "g0", csv(["older"])).is_success
    [group] = me.get(path).json()["groups"]
    kept = [part["digest"] for part in group["parts"]]
    newer = f"sha256:{sha256(csv(['newer'])).hexdigest()}"
    assert kept == ([newer] if then == "replaced" else [])
    assert group["members"] == len(kept)
    assert [part.claim for part in rows_of_parts(service.store, opened)] == [None] * len(kept)


def test_a_part_that_took_long_to_arrive_does_not_undo_what_came_meanwhile(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It began to arrive before the newer one of its number, and ended after it."""
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    people, waiting = type(service.platform.people), [lambda: me.put(opened, "g0", csv(["newer"]))]
    match = people.match

    def asked_about_nobody(*asked: Any) -> Persons:
        # The platform is asked about nobody when a part has arrived, before it is accepted.
        if waiting and not len(asked[-1]):
            assert waiting.pop()().is_success
        return match(*asked)

    monkeypatch.setattr(people, "match", asked_about_nobody)
    older = me.put(opened, "g0", csv(["older"]))
    assert older.status_code == 409
    service.matcher.drain(60)
    [group] = me.get(f"/v1/audiences/{opened}").json()["groups"]
    newer = f"sha256:{sha256(csv(['newer'])).hexdigest()}"
    assert [part["digest"] for part in group["parts"]] == [newer]


def test_a_part_that_is_sent_twice_is_kept_once(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a client that gave up waiting for the first answer."""
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    body = csv(["ada"])
    with meanwhile_matching(service, monkeypatch, lambda: me.put(opened, "g0", body)):
        assert me.put(opened, "g0", body).is_success
    [group] = me.get(f"/v1/audiences/{opened}").json()["groups"]
    assert (group["members"], len(group["parts"])) == (1, 1)


def test_nobody_is_looked_for_whose_part_is_too_large(
    small_audiences: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, me = small_audiences.service, raw(small_audiences, small_audiences.auditor())
    opened = me.audience({"g0": ["ada", "grace"]}, seal=False)["id"]
    asked = list[bool]()
    with meanwhile_matching(service, monkeypatch, lambda: asked.append(True)):
        too_many = me.put(opened, "g0", csv([f"u{number}" for number in range(9)]), part=1)
    refused(too_many, "audience-too-large", "11")
    assert not asked
    # In place of what is there, there is room for more.
    assert me.put(opened, "g0", csv([f"u{number}" for number in range(10)])).is_success


@pytest.fixture(scope="module")
def small_audiences(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    with deployed(new_database(), platform, max_members=10) as running:
        yield running


def test_a_part_of_an_audience_that_is_erased_while_it_is_matched_is_not_kept(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.audience({"g0": ["ada"]}, seal=False)["id"]
    path = f"/v1/audiences/{opened}"
    with meanwhile_matching(service, monkeypatch, lambda: me.call("DELETE", path)):
        assert me.put(opened, "g0", csv(["grace"]), part=1).is_success
    assert me.get(path).json()["state"] == "erased"
    assert not rows_of_parts(service.store, opened)


def test_parts_are_answered_for_at_once_and_sealing_waits_until_they_are_matched(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    let_go = threading.Event()
    sealed: list[dict[str, Any]] = []
    sealing_it = threading.Thread(target=lambda: sealed.append(me.seal(opened)))
    with meanwhile_matching(service, monkeypatch, let_go.wait):
        answer = me.put(opened, "g0", csv(["ada"]))
        assert answer.is_success
        [group] = me.get(f"/v1/audiences/{opened}").json()["groups"]
        assert group["parts"] == [answer.json()]  # as if it were matched already
        sealing_it.start()
        sealing_it.join(0.3)
        assert not sealed
        let_go.set()
        sealing_it.join(30)
    sent = {"g0": [pa.array(["ada"])]}
    assert sealed[0]["commitment"] == commitment(b64decode(SALT), "username", sent)


@contextmanager
def dying(service: Container, patch: pytest.MonkeyPatch, parts: int) -> Iterator[None]:
    """The next parts are accepted by a process that ends before it has matched them."""
    left, begin = [None] * parts, Matcher.begin

    def begun(self: Matcher, part: uploads.ClaimedPart, ticket: Ticket) -> None:
        if not left:
            return begin(self, part, ticket)
        left.pop()
        return self.slots.leave(ticket)

    with patch.context() as patched:
        patched.setattr(Matcher, "begin", begun)
        patched.setattr(uploads, "GRACE", timedelta(seconds=1))
        yield
        assert not left
        service.matcher.drain(60)


def test_parts_that_were_lost_must_be_sent_again(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, me = deployment.service, raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0", "g1"]})["id"]
    assert me.put(opened, "g0", csv(["ada"])).is_success
    with dying(service, monkeypatch, 2):
        assert me.put(opened, "g0", csv(["grace"]), part=1).is_success
        assert me.put(opened, "g1", csv(["edsger"])).is_success
        answer = me.post(f"/v1/audiences/{opened}/seal", {"salt": SALT})
        refused(answer, "parts-lost", "again")
        lost = [{"label": "g0", "number": 1}, {"label": "g1", "number": 0}]
        assert sorted(answer.json()["parts"], key=lambda part: part["label"]) == lost
        groups = me.get(f"/v1/audiences/{opened}").json()["groups"]
        assert [[part["number"] for part in group["parts"]] for group in groups] == [[0], []]
        assert me.put(opened, "g0", csv(["grace"]), part=1).is_success
        assert me.put(opened, "g1", csv(["edsger"])).is_success
        sent = {"g0": [pa.array(["ada"]), pa.array(["grace"])], "g1": [pa.array(["edsger"])]}
        assert me.seal(opened)["commitment"] == commitment(b64decode(SALT), "username", sent)


def test_the_sdk_sends_lost_parts_again(
    deployment: Deployment, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditor, names = deployment.auditor(), usernames(world, 9)
    frame = pa.table({"username": names, "group": ["a", "b", "c"] * 3})
    with dying(deployment.service, monkeypatch, 2):
        sealed = auditor.audiences.upload(frame, "username", "group", progress=False)
    assert sealed.wire.state == "sealed"
    assert sealed.members == {"a": 3, "b": 3, "c": 3}


def test_a_sealing_gets_a_retry_after_where_parts_take_long(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = raw(deployment, deployment.auditor())
    opened = me.made("/v1/audiences", {"groups": ["g0"]})["id"]
    let_go = threading.Event()
    monkeypatch.setattr(audiences, "SEAL_PATIENCE", timedelta(seconds=0.1))
    with meanwhile_matching(deployment.service, monkeypatch, lambda: let_go.wait(30)):
        assert me.put(opened, "g0", csv(["ada"])).is_success
        answer = me.post(f"/v1/audiences/{opened}/seal", {"salt": SALT})
        let_go.set()
    refused(answer, "unavailable", "Nothing was sealed", "again")
    assert answer.headers["retry-after"] == "5"
    assert me.seal(opened)["state"] == "sealed"


def test_sealing_deleting_and_tidying_at_once_never_stop_each_other(
    deployment: Deployment, world: World
) -> None:
    """A deadlock would be an error of the server, after a second."""
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    opened = [me.audience({"g0": usernames(world, 3)}, seal=False)["id"] for _ in range(12)]
    for audience_id in opened[::2]:
        move_expiry(store, audience_id, now() - timedelta(seconds=1))

    def seal(audience_id: str) -> httpx2.Response:
        return me.post(f"/v1/audiences/{audience_id}/seal", {"salt": SALT})

    def delete(audience_id: str) -> httpx2.Response:
        return me.call("DELETE", f"/v1/audiences/{audience_id}")

    with ThreadPoolExecutor(6) as threads:
        tidying = [threads.submit(purge_expired, store) for _ in range(3)]
        asked = [threads.submit(act, each) for each in opened for act in (seal, delete, seal)]
        for job in tidying:
            job.result()
        answers = [job.result() for job in asked]
    assert {answer.status_code for answer in answers} <= {200, 204, 409, 422}
    entries = [json.loads(row.text) for row in all_entries(store)]
    assert [entry["number"] for entry in entries] == list(range(len(entries)))
    erased = Counter(e["facts"]["audience_id"] for e in entries if e["kind"] == "audience-erasure")
    for audience_id in opened:
        state = me.get(f"/v1/audiences/{audience_id}").json()["state"]
        assert erased[audience_id] == (state == "erased")


def test_tidying_leaves_an_audience_that_is_being_sealed_for_the_next_time(
    postgresql: str, platform: Platform, world: World
) -> None:
    """On SQLite it waits its turn."""
    with deployed(new_postgresql(postgresql), platform, embedded_worker=False) as deployment:
        store, me = deployment.service.store, raw(deployment, deployment.auditor())
        opened = me.audience({"g0": usernames(world, 3)}, seal=False)["id"]
        move_expiry(store, opened, now() - timedelta(seconds=1))
        with store.write() as session:
            assert uploads.lock_unless_charging(session, opened)
            purge_expired(store)
            assert me.get(f"/v1/audiences/{opened}").json()["state"] == "open"
        purge_expired(store)
        assert me.get(f"/v1/audiences/{opened}").json()["state"] == "erased"


def all_entries(store: Store) -> list[EntryRow]:
    with store.read() as session:
        return list(session.scalars(select(EntryRow).order_by(col(EntryRow.number))))
