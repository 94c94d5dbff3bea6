"""Poisoned uploads: small bodies that say they are large, nested, aliased, or something else.

Each is refused with a problem, the service lives on, nothing is kept, and Arrow never holds more
than a little more than the body.
"""

import io
import random
import resource
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import IO, Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from api.audiences import matching
from api.audiences import parsing as members
from api.audiences.media_types import ARROW, CSV, JSON_LINES
from api.audiences.parsing import Members, read_members
from api.audiences.row_limit import RowLimit
from api.kernel.errors import MalformedMembersError, TooLargeError
from privacy.commitment import part_digest
from tests.system.raw import Raw, raw, refused, unchanged
from tests.world import Deployment

pytestmark = pytest.mark.long

ROWS = 4_000_000
ANY_ROWS = RowLimit(2**62, TooLargeError("too many rows"))
# A pool must outlive what was taken from it.
_POOLS: list[pa.MemoryPool] = []


def stream(column: pa.Array, name: str = "username", compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({name: column})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def zeros(rows: int) -> pa.Array:
    return pa.Array.from_buffers(pa.binary(32), rows, [None, pa.py_buffer(bytes(32 * rows))])


def nested(depth: int) -> pa.Array:
    kind = pa.string()
    for _ in range(depth):
        kind = pa.list_(kind)
    return pa.nulls(1, kind)


def encoded(rows: int) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int64()), pa.array(["ada"]))


def dictionary(rows: int) -> pa.Array:
    codes = pa.Array.from_buffers(pa.int8(), rows, [None, pa.py_buffer(bytes(rows))])
    return pa.DictionaryArray.from_arrays(codes, pa.array(["a" * 200]))


def lying(declared: int) -> bytes:
    """A good stream whose record batch declares another length of its body."""
    honest = stream(pa.array(["ada", "grace"]))
    reader = pa.ipc.MessageReader.open_stream(honest)
    reader.read_next_message()
    message = reader.read_next_message()
    metadata, body = bytes(message.metadata), len(message.body)
    place = honest.index(metadata) + metadata.index(struct.pack("<q", body))
    return honest[:place] + struct.pack("<q", declared) + honest[place + 8 :]


def offsets(*values: int) -> bytes:
    raw_offsets, data = pa.py_buffer(struct.pack(f"<{len(values)}i", *values)), pa.py_buffer(b"ada")
    return stream(pa.Array.from_buffers(pa.string(), len(values) - 1, [None, raw_offsets, data]))


POISONED: dict[str, tuple[str, bytes]] = {
    "compressed with zstd": (ARROW, stream(zeros(ROWS), "email_sha256", "zstd")),
    "compressed with lz4": (ARROW, stream(zeros(ROWS), "email_sha256", "lz4")),
    "a compressed dictionary": (ARROW, stream(dictionary(ROWS), "username", "zstd")),
    "two billion nulls": (ARROW, stream(pa.nulls(2**31 - 1))),
    "two billion times the same": (ARROW, stream(encoded(2**31 - 1))),
    "a nested type": (ARROW, stream(nested(50))),
    "a struct of nothing": (ARROW, stream(pa.array([{}] * 10, pa.struct([])))),
    "a view": (ARROW, stream(pa.array(["ada"], pa.string_view()))),
    "a body of four terabytes": (ARROW, lying(2**42)),
    "a body of a negative length": (ARROW, lying(-8)),
    "offsets beyond the data": (ARROW, offsets(0, 2**31 - 1, 3)),
    "offsets that go back": (ARROW, offsets(0, -5, 3)),
    "not a stream": (ARROW, b"\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(64)),
    "NUL in Arrow": (ARROW, stream(pa.array(["ada\x00"]))),
    "NUL in CSV": (CSV, b"username\nada\x00\n"),
    "a control character": (CSV, b"username\nada\x1b[31m\n"),
    "a formula with arguments": (CSV, b"username\n\"=cmd|' /C calc'!A0\"\n"),
    "many columns": (CSV, b"username" + b"," * 1_000_000 + b"\n"),
    "one endless line": (CSV, b"username\n" + b"a" * 8_000_000),
    "an open quote": (CSV, b'username\n"' + b"a\n" * 1_000_000),
    "deep JSON arrays": (JSON_LINES, b'{"username": ' + b"[" * 1_000_000),
    "deep JSON objects": (JSON_LINES, b'{"username":' * 500_000),
    "NUL in JSON": (JSON_LINES, b'{"username": "ada\\u0000"}\n'),
}


@pytest.fixture(scope="module")
def me(target: Deployment) -> Raw:
    return raw(target, target.auditor())


@pytest.mark.parametrize("name", POISONED)
def test_a_poisoned_upload_is_refused_and_the_service_lives_on(
    target: Deployment, me: Raw, name: str
) -> None:
    media_type, body = POISONED[name]
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    with unchanged(target.service.store):
        refused(me.put(audience["id"], "g0", body, media_type), "malformed-members")
    assert me.put(audience["id"], "g0", b"username\nada\n").is_success


@contextmanager
def counting() -> Iterator[pa.MemoryPool]:
    """A pool that knows the most that Arrow held at once."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    _POOLS.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(before)


@pytest.mark.parametrize("name", POISONED)
def test_memory_is_bounded_by_the_body(name: str) -> None:
    media_type, body = POISONED[name]
    with counting() as pool, pytest.raises(MalformedMembersError):
        read_members(io.BytesIO(body), media_type, ANY_ROWS)
    # What CSV and JSON are parsed into is a few times as large as they are.
    assert pool.max_memory() <= 8 * len(body) + 2_000_000


def test_a_reader_that_trusts_the_stream_holds_thousands_of_times_the_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: pyarrow's own reader."""
    monkeypatch.setattr(
        members, "read_stream", lambda body, check, limit: pa.ipc.open_stream(body).read_all()
    )
    _, body = POISONED["compressed with zstd"]
    with counting() as pool:
        kind, column = read_members(io.BytesIO(body), ARROW, ANY_ROWS)
        assert (kind, len(column)) == ("email_sha256", ROWS)
        assert pool.max_memory() > 1_000 * len(body)


def effort(body: bytes) -> float:
    """Seconds of processor time until this is refused."""
    began = time.process_time()
    with pytest.raises(MalformedMembersError):
        read_members(io.BytesIO(body), CSV, ANY_ROWS)
    return time.process_time() - began


def test_a_reader_that_counts_no_columns_works_long_for_a_few_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: pyarrow's own reader of CSV, which makes an array of each column."""
    body = b"username" + b"," * 100_000 + b"\n"
    ours = effort(body)
    monkeypatch.setattr(members, "_refuse_wide", lambda body: None)
    # Hundreds of times, in truth.
    assert effort(body) > 20 * ours


def test_a_reader_that_looks_at_no_characters_keeps_what_would_drive_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(members, "_usernames", lambda column, header: column)
    _, body = POISONED["a control character"]
    assert read_members(io.BytesIO(body), CSV, ANY_ROWS)[1].to_pylist() == ["ada\x1b[31m"]


def test_hashing_many_short_names_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    members = Members("username", pa.array([f"{number:x}" for number in range(400_000)]))
    ours, digest = peak(members)
    monkeypatch.setattr(matching, "_AT_ONCE", len(members.identifiers))
    twins, same = peak(members)
    assert digest == same
    assert ours < twins / 3


def peak(members: Members) -> tuple[int, bytes]:
    """The most bytes that Python held while committing to these, and the commitment."""
    tracemalloc.start()
    digest = part_digest(matching._tokens(members))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, digest


GOOD = [
    (ARROW, stream(pa.array(["ada", "grace"]))),
    (ARROW, stream(pa.array(["ada", "grace"], pa.large_string()))),
    (ARROW, stream(zeros(3), "email_sha256")),
    (ARROW, stream(pa.array(["ada", "grace"]), "username", "zstd")),
    (CSV, b'username\nada\n"grace"\n'),
    (JSON_LINES, b'{"username": "ada"}\n{"username": "gr\\u0061ce"}\n'),
]


def survived(mutations: int) -> int:
    """Count the refused invalid uploads; raise for any answer but a refusal or a success."""
    rng, refusals = random.Random(4), 0
    for _ in range(mutations):
        media_type, good = rng.choice(GOOD)
        body = bytearray(good)
        for _ in range(rng.choice((1, 1, 2, 4, 8))):
            body[rng.randrange(len(body))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        try:
            read_members(io.BytesIO(bytes(body)), media_type, ANY_ROWS)
        except MalformedMembersError:
            refusals += 1
    return refusals


def believing(mutations: int) -> int:
    """The twin: the first message is the schema and all others are rows, whatever they say."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with patch.object(members, "read_stream", _read_whatever_comes):
        return survived(mutations)


def _read_whatever_comes(body: IO[bytes], check: Any, _limit: RowLimit) -> pa.Table:
    messages = iter(pa.ipc.MessageReader.open_stream(body))
    schema = pa.ipc.read_schema(next(messages))
    check(schema)
    batches = (pa.ipc.read_record_batch(message, schema) for message in messages)
    return pa.Table.from_batches(batches, schema)


def elsewhere(job: Callable[[int], int], amount: int) -> Future[int]:
    """In a process of its own, which may die of it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(job, amount)


def test_no_spoilt_upload_kills_the_process() -> None:
    assert elsewhere(survived, 30_000).result() > 10_000


@pytest.mark.full
def test_a_reader_that_believes_what_a_message_is_would_be_killed() -> None:
    """Arrow crashes where it is handed a message of the wrong type."""
    with pytest.raises(BrokenProcessPool):
        elsewhere(believing, 30_000).result()


def test_a_formula_is_a_name_like_any_other(target: Deployment, me: Raw) -> None:
    """Names are never interpreted, and never come back: there is no sheet for them to run in."""
    formula = "=HYPERLINK(evil)"
    audience = me.made("/v1/audiences", {"groups": ["g0"]})
    put = me.put(audience["id"], "g0", f"username\n{formula}\n".encode())
    assert put.json()["rows"] == 1
    path = f"/v1/audiences/{audience['id']}"
    answers = [put, me.get(path), me.get("/v1/audiences")]
    answers.append(me.post(f"{path}/seal", {"salt": "A" * 32}))
    assert not any("HYPERLINK" in answer.text for answer in answers)
