"""Members that cannot be read or may not be changed: refused with the line, nothing is kept."""

import struct
from typing import Any

import pyarrow as pa
import pytest

from tests.system.raw import ARROW, CSV, JSON_LINES, SALT, refused, unchanged
from tests.system.scene import Scene

pytestmark = pytest.mark.long_on_postgresql

HASH = "0" * 64


def stream(**columns: pa.Array) -> bytes:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def strings(offsets: list[int], data: bytes) -> pa.Array:
    """An array of strings that says of itself what may be false."""
    raw = struct.pack(f"<{len(offsets)}i", *offsets)
    buffers = [None, pa.py_buffer(raw), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


GOOD = stream(username=pa.array(["ada", "grace"]))

# media type, body, the line that is wrong (None where none can be named), words
MALFORMED: list[tuple[str, bytes, int | None, str]] = [
    (CSV, b"", None, "Empty"),
    (CSV, b"name\nada\n", 1, ": name."),
    (CSV, b"Username\nada\n", 1, ": Username."),
    (CSV, b"username,email_sha256\nada,x\n", 1, ": username, email_sha256."),
    (CSV, b"username\nada\ngrace,hopper\n", 3, "Expected 1 columns, got 2"),
    (CSV, b"username\nada\ngrace hopper\n", 3, "white space"),
    (CSV, b'username\nada\n""\n', 3, "is empty"),
    (CSV, b"username\n" + b"a" * 201 + b"\n", 2, "not a user name"),
    (CSV, b"username\nada\n\xff\xfe\n", 3, "invalid UTF8"),
    (CSV, b"username\n" + b"ada\n" * 300_000 + b"a,b\n", 300_002, "Expected 1 columns"),
    (CSV, f"email_sha256\n{HASH}\n{HASH[1:]}\n".encode(), 3, "64 hexadecimal digits"),
    (CSV, f"phone_sha256\n{HASH}\n{HASH[1:]}g\n".encode(), 3, "64 hexadecimal digits"),
    (CSV, f"email_sha256\n{HASH}\n{HASH}\nada@example.org\n".encode(), 4, "64 hexadecimal"),
    (JSON_LINES, b"", None, "no lines"),
    (JSON_LINES, b'{"username": "ada"}\n{"username": 5}\n', 2, "string"),
    (JSON_LINES, b'{"username": "ada"}\n{"username": null}\n', 2, "is empty"),
    (JSON_LINES, b'{"username": "ada"}\n{"username": "a b"}\n', 2, "white space"),
    (JSON_LINES, b'{"username": "ada"}\n[]\n', 2, "object"),
    (JSON_LINES, b"null\n", 1, "object"),
    (JSON_LINES, b'{"username": "ada"}\n{"username": "\\ud800"}\n', 2, "surrogate"),
    (JSON_LINES, b'{"username": "ada"}\n{"username": "ada", "age": 36}\n', 2, "one field"),
    (JSON_LINES, b'{"username": "ada"}\n{"email_sha256": "x"}\n', 2, "email_sha256"),
    (JSON_LINES, b'{"username": "ada"\n', 1, "JSON"),
    (JSON_LINES, b'{"username": "\xff"}\n', 1, "UTF-8"),
    (JSON_LINES, b'{"username":"ada"}\n' * 100_000 + b'{"username":5}\n', 100_001, "string"),
    (ARROW, b"", None, "cannot be read"),
    (ARROW, b"username\nada\n", None, "cannot be read"),
    (ARROW, GOOD[:-40], None, "cannot be read"),
    (ARROW, stream(username=pa.array(["ada", None])), 3, "is empty"),
    (ARROW, stream(username=pa.array(["ada", "a b"])), 3, "white space"),
    (ARROW, stream(username=pa.array([1, 2])), 1, "must be strings"),
    (ARROW, stream(name=pa.array(["ada"])), 1, ": name."),
    (ARROW, stream(email_sha256=pa.array([b"x" * 31], pa.binary(31))), 1, "32 bytes"),
    (ARROW, stream(email_sha256=pa.array([HASH, "x"])), 3, "64 hexadecimal digits"),
    (ARROW, stream(username=strings([0, 2], b"\xff\xfe")), None, "UTF8"),
    (ARROW, stream(username=strings([0, 2**31 - 1, 4], b"abcd")), None, "cannot be read"),
    (ARROW, stream(username=strings([0, -5, 4], b"abcd")), None, "cannot be read"),
]


@pytest.mark.parametrize(
    ("media_type", "body", "line", "words"), MALFORMED, ids=range(len(MALFORMED))
)
def test_malformed_members_are_refused_with_their_line(
    scene: Scene, media_type: str, body: bytes, line: int | None, words: str
) -> None:
    with unchanged(scene.deployment.service.store):
        answer = scene.me.put(scene.opened["id"], "g0", body, media_type)
        problem = refused(answer, "malformed-members", words)
    assert problem.get("line") == line


@pytest.mark.parametrize("media_type", ["", "application/json", "text/plain", "text/csvx"])
def test_another_media_type_is_refused_with_those_accepted(scene: Scene, media_type: str) -> None:
    with unchanged(scene.deployment.service.store):
        answer = scene.me.put(scene.opened["id"], "g0", b"username\nada\n", media_type)
        refused(answer, "unsupported-media-type", CSV, JSON_LINES, ARROW)


def test_parameters_of_a_media_type_do_not_matter(scene: Scene) -> None:
    audience = scene.me.audience({"g0": ["ada"]}, seal=False)
    for media_type in ("text/csv; charset=utf-8; header=present", "TEXT/CSV"):
        assert scene.me.put(audience["id"], "g0", b"username\nada\n", media_type).is_success


def test_names_that_look_like_nothing_are_names(scene: Scene) -> None:
    names = ["NA", "null", "nan", "N/A", "None", "true", "1"]
    audience = scene.me.made("/v1/audiences", {"groups": ["g0"]})
    body = "\n".join(["username", *names]).encode()
    assert scene.me.put(audience["id"], "g0", body).json()["rows"] == len(names)


def test_a_group_that_the_audience_does_not_have(scene: Scene) -> None:
    with unchanged(scene.deployment.service.store):
        answer = scene.me.put(scene.opened["id"], "g7", b"username\nada\n")
        refused(answer, "not-found", "g7")
        for label in ("women", "g01", "g1000", "g-1"):
            refused(scene.me.put(scene.opened["id"], label, b""), "invalid-request", "label")
        for part in (-1, 100_001):
            answer = scene.me.put(scene.opened["id"], "g0", b"username\nada\n", part=part)
            refused(answer, "invalid-request", "part")


WRONG_DIGESTS = ["sha-256=:AAAA:", "sha-256=:not base64:", "md5=:AAAA:", "", "sha-256", "x" * 100]


@pytest.mark.parametrize("digest", WRONG_DIGESTS)
def test_a_part_that_is_not_what_was_announced_is_not_kept(scene: Scene, digest: str) -> None:
    path = f"/v1/audiences/{scene.opened['id']}/groups/g0/members"
    headers = {"content-type": CSV, "content-digest": digest}
    with unchanged(scene.deployment.service.store):
        answer = scene.me.call("PUT", path, content=b"username\nada\n", headers=headers)
        refused(answer, "digest-mismatch", "again")


def test_an_empty_group_is_not_sealed(scene: Scene) -> None:
    audience = scene.me.made("/v1/audiences", {"groups": ["g0", "g1", "g2"]})
    scene.me.put(audience["id"], "g1", b"username\nada\n")
    scene.me.put(audience["id"], "g2", b"username\n")
    with unchanged(scene.deployment.service.store):
        answer = scene.me.post(f"/v1/audiences/{audience['id']}/seal", {"salt": SALT})
        problem = refused(answer, "empty-group", "g0, g2")
    assert problem["groups"] == ["g0", "g2"]


def changes(audience: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    path = f"/v1/audiences/{audience['id']}"
    members = {"content": b"username\nada\n", "headers": {"content-type": CSV}}
    return [
        ("PUT", f"{path}/groups/g0/members", members),
        ("PUT", f"{path}/groups/g0/members?part=1", members),
        ("DELETE", f"{path}/groups/g0", {}),
        ("POST", f"{path}/seal", {"json": {"salt": SALT}}),
    ]


def test_a_sealed_audience_cannot_be_changed(scene: Scene) -> None:
    with unchanged(scene.deployment.service.store):
        for method, path, options in changes(scene.sealed):
            refused(scene.me.call(method, path, **options), "audience-sealed")


def test_an_erased_audience_can_neither_be_changed_nor_audited(scene: Scene) -> None:
    audience = scene.me.audience({"g0": ["ada"], "g1": ["grace"]})
    assert scene.me.call("DELETE", f"/v1/audiences/{audience['id']}").status_code == 204
    with unchanged(scene.deployment.service.store):
        for method, path, options in changes(audience):
            refused(scene.me.call(method, path, **options), "audience-sealed")
        body = scene.request(audience_id=audience["id"])
        refused(scene.me.submit(body), "audience-not-sealed", "erased", "charged")
