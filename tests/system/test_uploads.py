"""Uploading an audience: formats, parts, resuming, the commitment, and what is kept how long."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import MetaData, select

from api.audiences import sealing, similarity_sketches
from api.audiences.expiry import purge_expired
from api.db import AudienceRow, GroupRow, PartRow, SketchRow, Store
from api.kernel.clock import now
from api.platforms.interfaces import Platform
from auditor_client import Auditor
from auditor_client.audiences.labels import label_names
from auditor_client.audiences.parts import MEDIA_TYPE, commitment, encode_parts, rows_per_part
from auditor_client.audiences.tables import read_members
from auditor_client.audiences.upload import AudienceUpload
from auditor_client.errors import ConflictError
from auditor_client.local.audience_records import load_record
from openapi.resources import AudienceDraft
from platform_sim import World, recruit
from tests.refusals import refuses
from tests.system.raw import (
    ARROW,
    CSV,
    JSON_LINES,
    SALT,
    Raw,
    csv,
    matched,
    raw,
    refused,
    request_for,
    usernames,
)
from tests.system.scene import wait
from tests.world import Deployment, deployed

PEOPLE = {
    "username": ["ada", "grace", "zoë", "名前", "NA", "a.b", "ada"],
    "email_sha256": [sha256(name.encode()).hexdigest() for name in ("a@x", "b@x", "c@x")],
    "phone_sha256": [sha256(name.encode()).hexdigest().upper() for name in ("+15550101", "+1")],
}


def as_csv(kind: str, people: list[str]) -> tuple[bytes, str]:
    return csv(people, kind), CSV


def as_json_lines(kind: str, people: list[str]) -> tuple[bytes, str]:
    return "".join(json.dumps({kind: person}) + "\n" for person in people).encode(), JSON_LINES


def as_arrow(kind: str, people: list[str]) -> tuple[bytes, str]:
    column = arrow_of(kind, people)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([(kind, column.type)])) as writer:
        for start in range(0, len(column), 2):  # several batches
            writer.write_batch(pa.record_batch([column.slice(start, 2)], names=[kind]))
    return bytes(sink.getvalue()), ARROW


def arrow_of(kind: str, people: list[str]) -> pa.Array:
    if kind == "username":
        return pa.array(people)
    return pa.array([bytes.fromhex(person) for person in people], pa.binary(32))


@pytest.mark.parametrize("kind", PEOPLE)
def test_all_formats_give_the_commitment_that_the_sdk_computes(
    deployment: Deployment, kind: str
) -> None:
    me, people = raw(deployment, deployment.auditor()), PEOPLE[kind]
    groups = {"g0": people, "g1": people[:1]}
    parts = {label: [arrow_of(kind, group)] for label, group in groups.items()}
    expected = commitment(b64decode(SALT), kind, parts)  # type: ignore[arg-type]
    for written in (as_csv, as_json_lines, as_arrow):
        audience = me.made("/v1/audiences", {"groups": ["g1", "g0"]})
        for label, group in groups.items():
            answer = me.put(audience["id"], label, *written(kind, group))
            assert answer.json()["rows"] == len(group), answer.text
        assert me.seal(audience["id"])["commitment"] == expected


def test_parts_count_by_their_numbers_whichever_arrives_first(deployment: Deployment) -> None:
    me, people = raw(deployment, deployment.auditor()), PEOPLE["username"]
    parts = [arrow_of("username", people).slice(start, 2) for start in range(0, len(people), 2)]
    expected = commitment(b64decode(SALT), "username", {"g0": parts})
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    for part in (2, 0, 1):
        answer = me.put(audience["id"], "g0", csv(people[2 * part : 2 * part + 2]), part=part)
        assert answer.is_success
    assert me.put(audience["id"], "g0", csv(people[6:]), part=7).is_success  # a gap is no harm
    [group] = me.get(f"/v1/audiences/{audience['id']}").json()["groups"]
    assert group["members"] == len(people)
    assert [part["number"] for part in group["parts"]] == [0, 1, 2, 7]
    assert me.seal(audience["id"])["commitment"] == expected
    # Cut in another way, it is another commitment.
    whole = commitment(b64decode(SALT), "username", {"g0": [arrow_of("username", people)]})
    assert me.audience({"g0": people})["commitment"] == whole != expected


def test_another_order_of_people_or_another_salt_is_another_commitment(
    deployment: Deployment,
) -> None:
    me, people = raw(deployment, deployment.auditor()), PEOPLE["username"]
    first = me.audience({"g0": people})["commitment"]
    assert me.audience({"g0": people})["commitment"] == first
    assert me.audience({"g0": people[::-1]})["commitment"] != first
    opened = me.audience({"g0": people}, seal=False)
    salt = b64encode(b"another salt of some length").decode()
    sealed = me.made(f"/v1/audiences/{opened['id']}/seal", {"salt": salt})
    assert sealed["commitment"] != first


def test_a_part_sent_again_takes_the_place_of_the_first(deployment: Deployment) -> None:
    me = raw(deployment, deployment.auditor())
    audience = me.made("/v1/audiences", {"groups": ["g0", "g1"]})
    path = f"/v1/audiences/{audience['id']}"
    for names, part in ((["a", "b", "c"], 0), (["d"], 1), (["e", "f"], 0)):
        body = csv(names)
        digest = f"sha256:{sha256(body).hexdigest()}"
        answer = me.put(audience["id"], "g0", body, part=part).json()
        assert answer == {"number": part, "rows": len(names), "digest": digest}
    first, second = me.get(path).json()["groups"]
    assert (first["members"], second["members"]) == (3, 0)
    assert [(part["number"], part["rows"]) for part in first["parts"]] == [(0, 2), (1, 1)]

    assert me.call("DELETE", f"{path}/groups/g0").status_code == 204
    assert me.get(path).json()["groups"][0] == {"label": "g0", "members": 0, "parts": []}
    me.put(audience["id"], "g1", csv(["z"]))
    refused(me.post(f"{path}/seal", {"salt": SALT}), "empty-group", "g0")
    me.put(audience["id"], "g0", csv(["e", "f"]))
    groups = {"g0": [pa.array(["e", "f"])], "g1": [pa.array(["z"])]}
    expected = commitment(b64decode(SALT), "username", groups)
    assert me.seal(audience["id"])["commitment"] == expected


def test_a_digest_that_fits_is_accepted_and_none_is_needed(deployment: Deployment) -> None:
    me = raw(deployment, deployment.auditor())
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    path, body = f"/v1/audiences/{audience['id']}/groups/g0/members", csv(["ada"])
    fits = f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
    for digest in ({}, {"content-digest": fits}, {"Content-Digest": fits.replace("sha", "SHA")}):
        headers = {"content-type": CSV, **digest}
        assert me.call("PUT", path, content=body, headers=headers).is_success
    refused(
        me.call("PUT", path, content=body + b"x", headers={"content-type": CSV} | digest),
        "digest-mismatch",
    )


@pytest.fixture(scope="module")
def small_parts(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """Parts of about a hundred hashes."""
    with deployed(new_database(), platform, max_part_bytes=8_192) as running:
        yield running


def test_an_upload_that_broke_off_is_resumed_where_it_broke(
    small_parts: Deployment, world: World
) -> None:
    auditor = small_parts.auditor()
    frame = recruit(world, 600, seed=9)
    members = read_members(frame, "email", "gender")
    names = label_names(members.groups)
    upload = AudienceUpload(auditor._transport, names, members)
    audience_id = upload.begin(AudienceDraft(groups=list(names)))
    first = members.groups[names["g0"]]
    parts = list(encode_parts(members.kind, first, rows_per_part(first, 8_192)))
    assert len(parts) == 3
    me = raw(small_parts, auditor)
    kept = me.put(audience_id, "g0", parts[0].body, MEDIA_TYPE).json()
    # A part that arrived damaged: its digest is not the one the SDK looks for.
    me.put(audience_id, "g0", csv(["somebody.else"]), part=1)

    backwards = frame.take(pa.array(range(len(frame) - 1, -1, -1)))
    audience = auditor.audiences.upload(
        backwards, id="email", by="gender", resume=audience_id, progress=False
    )
    assert audience.id == audience_id
    assert audience.wire.state == "sealed"
    assert audience.members == {name: len(group) for name, group in members.groups.items()}
    record = load_record(audience_id)
    assert record is not None
    assert audience.commitment == record.commitment
    assert kept["digest"] == parts[0].digest
    # Resuming once more finds it sealed, as it was meant.
    again = auditor.audiences.upload(
        frame, id="email", by="gender", resume=audience_id, progress=False
    )
    assert again.commitment == audience.commitment


def everything(store: Store) -> Iterator[bytes]:
    """Every value in every table, as the database gives it, in bytes."""
    metadata = MetaData()
    metadata.reflect(store.engine)
    with store.engine.connect() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)):
                for value in row:
                    yield value if isinstance(value, bytes) else str(value).encode()


def holds(store: Store, needles: list[bytes]) -> bool:
    return any(needle in value for value in everything(store) for needle in needles)


@pytest.mark.parametrize("kind", ["username", "email_sha256"])
def test_identifiers_are_not_written_down(
    deployment: Deployment, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    names = [f"very.secret.person.{number}" for number in range(50)]
    hashes = [sha256(name.encode()) for name in names]
    people = names if kind == "username" else [each.hexdigest() for each in hashes]
    needles = [name.encode() for name in names]
    if kind != "username":
        needles = [each.digest() for each in hashes] + [p.encode() for p in people]
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    body = csv(people, kind)
    for step in ("put", "seal"):
        _ = me.put(audience["id"], "g0", body) if step == "put" else me.seal(audience["id"])
        assert not holds(store, needles)
        assert not holds(matched(store), needles)
        if on_sqlite(store):  # not even in pages that nobody reads any more, or in the log
            file = Path(store.engine.url.database or "")
            written = file.read_bytes() + Path(f"{file}-wal").read_bytes()
            assert not [needle for needle in needles if needle in written]

    # The twin: a service that keeps what was sent until it is sealed.
    monkeypatch.setattr(similarity_sketches, "as_bytes", lambda _: b"".join(needles))
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    me.put(audience["id"], "g0", body)
    assert holds(matched(store), needles)


def rows_of_parts(store: Store, audience_id: str) -> list[PartRow]:
    with store.read() as session:
        return list(session.exec(sealing._PARTS, params={"audience": audience_id}))


def test_the_size_of_a_stored_part_does_not_depend_on_who_was_found(
    deployment: Deployment, world: World
) -> None:
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    found, strangers = usernames(world, 40), [f"nobody.{number:09}" for number in range(40)]
    kept = []
    for people in (found, strangers):
        audience = me.audience({"g0": people}, seal=False)
        deployment.service.matcher.drain(10)
        [part] = rows_of_parts(store, audience["id"])
        assert part.tokens is not None
        assert part.sketch is not None
        kept.append((len(part.data), len(part.tokens), len(part.sketch)))
    assert kept == [(8 * 40, 32, 8 * 40)] * 2


def test_a_part_that_the_version_before_kept_is_sealed_like_any_other(
    deployment: Deployment, world: World
) -> None:
    """While processes are replaced, some still write down identifiers."""
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    names = [*usernames(world, 5), "nobody.at.all"]
    now_, opened = (me.made("/v1/audiences", {"groups": ["g0"]}) for _ in range(2))
    me.put(now_["id"], "g0", csv(names[:3]))
    me.put(now_["id"], "g0", csv(names[3:]), part=1)
    sealed = {"now": me.seal(now_["id"])}
    me.put(opened["id"], "g0", csv(names[:3]))
    me.put(opened["id"], "g0", csv(names[3:]), part=1)  # plus a part by a new process
    body, _ = as_arrow("username", names[:3])
    deployment.service.matcher.drain(60)
    with store.write() as session:
        part, _ = session.exec(sealing._PARTS, params={"audience": opened["id"]})
        part.data, part.tokens, part.sketch = body, None, None
        session.add(part)
    sealed["before"] = me.seal(opened["id"])
    assert sealed["before"]["commitment"] == sealed["now"]["commitment"]
    with store.read() as session:
        found = [session.get_one(GroupRow, (each["id"], "g0")).people for each in sealed.values()]
        hashes = [session.get_one(SketchRow, each["id"]).hashes for each in sealed.values()]
    assert found[0] == found[1]
    assert len(found[0] or b"") == 8 * 5
    assert hashes[0] == hashes[1]


def move_expiry(store: Store, audience_id: str, at: datetime) -> None:
    with store.write() as session:
        row = session.get_one(AudienceRow, audience_id)
        row.expires_at = at
        session.add(row)


def people_kept(store: Store, audience_id: str) -> bool:
    with store.read() as session:
        return session.get_one(GroupRow, (audience_id, "g0")).people is not None


def expiry(me: Raw, audience_id: str) -> timedelta:
    shown = me.get(f"/v1/audiences/{audience_id}").json()["expires_at"]
    return datetime.fromisoformat(shown) - datetime.now(UTC)


def test_an_abandoned_upload_expires_with_its_members(deployment: Deployment) -> None:
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    audience = me.audience({"g0": ["an.abandoned.person"]}, seal=False)
    path = f"/v1/audiences/{audience['id']}"
    assert timedelta(hours=23) < expiry(me, audience["id"]) <= timedelta(hours=24)
    purge_expired(store)
    assert me.get(path).json()["state"] == "open"
    move_expiry(store, audience["id"], now() + timedelta(minutes=1))
    me.put(audience["id"], "g0", csv(["an.abandoned.person"]))  # a sign of life
    assert timedelta(hours=23) < expiry(me, audience["id"])

    # However often it gives one: whom it found is kept no longer than of a sealed audience.
    with store.write() as session:
        row = session.get_one(AudienceRow, audience["id"])
        row.created_at = now() - timedelta(days=29, hours=23)
        session.add(row)
    me.put(audience["id"], "g0", csv(["an.abandoned.person"]))
    assert timedelta(0) < expiry(me, audience["id"]) <= timedelta(hours=1)

    move_expiry(store, audience["id"], now() - timedelta(seconds=1))
    purge_expired(store)
    shown = me.get(path).json()
    assert shown["state"] == "erased"
    assert shown["groups"][0]["parts"] == []
    assert not rows_of_parts(store, audience["id"])
    refused(me.post(f"{path}/seal", {"salt": SALT}), "audience-sealed")


def test_members_are_erased_in_time_and_what_was_paid_and_committed_stays(
    deployment: Deployment, world: World
) -> None:
    store, me = deployment.service.store, raw(deployment, deployment.auditor())
    sealed, content = me.audience({"g0": usernames(world, 5)}), me.content()
    audit = me.submit(request_for(content, sealed)).json()
    assert wait(me, audit["id"]) == "released"
    release = me.get(f"/v1/audits/{audit['id']}/release").content
    assert timedelta(days=29) < expiry(me, sealed["id"]) <= timedelta(days=30)

    purge_expired(store)
    assert people_kept(store, sealed["id"])
    move_expiry(store, sealed["id"], now() - timedelta(seconds=1))
    purge_expired(store)
    assert not people_kept(store, sealed["id"])
    shown = me.get(f"/v1/audiences/{sealed['id']}").json()
    assert (shown["state"], shown["commitment"]) == ("erased", sealed["commitment"])
    assert shown["groups"][0]["members"] == 5
    assert me.get(f"/v1/audits/{audit['id']}/release").content == release
    assert me.get("/v1/budget").json()["mandates"][0]["spent"] == "2.5"
    entries = [entry.kind for entry in deployment.regulator.ledger.entries()][:2]
    assert entries == ["audience-erasure", "release"]
    purge_expired(store)
    assert [entry.kind for entry in deployment.regulator.ledger.entries()][:2] == entries


def test_an_audit_that_is_not_finished_protects_its_members(idle: Deployment, world: World) -> None:
    auditor = idle.auditor()
    store, me = idle.service.store, raw(idle, auditor)
    sealed = me.audience({"g0": usernames(world, 5)})
    audit = me.submit(request_for(me.content(), sealed)).json()
    move_expiry(store, sealed["id"], now() - timedelta(days=1))
    purge_expired(store)
    assert people_kept(store, sealed["id"])
    with refuses(ConflictError, "audit-not-finished"):
        auditor.audiences.delete(sealed["id"])
    assert idle.service.worker().run_one()
    assert me.get(f"/v1/audits/{audit['id']}").json()["state"] == "released"
    # The time counts from the last release.
    assert timedelta(days=29) < expiry(me, sealed["id"])
    purge_expired(store)
    assert people_kept(store, sealed["id"])


def test_open_and_finished_audiences_can_be_deleted(deployment: Deployment, world: World) -> None:
    auditor: Auditor = deployment.auditor()
    store, me = deployment.service.store, raw(deployment, auditor)
    opened = me.audience({"g0": ["a.person.to.delete"]}, seal=False)
    sealed = me.audience({"g0": usernames(world, 5)})
    audit = me.submit(request_for(me.content(), sealed)).json()
    wait(me, audit["id"])
    for audience in (opened, sealed):
        auditor.audiences.delete(audience["id"])
        assert me.get(f"/v1/audiences/{audience['id']}").json()["state"] == "erased"
    assert not rows_of_parts(store, opened["id"])
    assert not people_kept(store, sealed["id"])
    assert me.get(f"/v1/audiences/{sealed['id']}").json()["commitment"] == sealed["commitment"]
    assert me.get(f"/v1/audits/{audit['id']}/release").is_success


def on_sqlite(store: Store) -> bool:
    return store.url.startswith("sqlite")
