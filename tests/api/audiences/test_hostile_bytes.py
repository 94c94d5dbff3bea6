"""Bytes from outside that pyarrow or our own readers parse never end the process.

Each search runs in a process of its own, which may die of it. Its cases follow from a seed.
"""

import io
import multiprocessing
import random
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pyarrow as pa
import pyarrow.json
import pytest

from api.audiences.media_types import ARROW, CSV, JSON_LINES
from api.audiences.parsing import read_members
from api.audiences.row_limit import RowLimit
from api.kernel.errors import MalformedMembersError, TooLargeError
from api.platforms.http import messages

# Marks and values of JSON, with rows that are right and rows that are nearly right.
JSON_TOKENS = (
    *"{}[],:\"'\\",
    *("null", "true", "1", "-1.5e3", "1e999", "NaN", "-", '""', '"a"', "[]", "[null]", "[{}]"),
    *('"\\ud800"', '"\\u0000"', "\x00", "\ufeff", " ", "\t", "\r", "\n", "\n", "\r\n"),
    *('{"username":"a"}', '{"username":null}', '{"username":1}', '{"username":[]}', "{}"),
    *('{"username":{"a":null}}', '{"email":"a"}', '{"username":"a","username":"b"}'),
    *('{"username":"a"', '{"username":', '{"":"a"}', '{"phone_sha256":"a"}'),
)
CSV_TOKENS = (
    "username",
    "email_sha256",
    "a",
    "",
    '"',
    '""',
    '"a"',
    ",",
    "\n",
    "\r",
    "\r\n",
    "\x00",
)


def json_body(rng: random.Random) -> bytes:
    return "".join(rng.choices(JSON_TOKENS, k=rng.randint(1, 9))).encode()


def csv_body(rng: random.Random) -> bytes:
    start = rng.choice(("username\n", ""))
    return (start + "".join(rng.choices(CSV_TOKENS, k=rng.randint(1, 12)))).encode()


def arrow_body(rng: random.Random) -> bytes:
    """A stream of several types, with bytes changed, dropped or put in."""
    columns = rng.choice(ARROW_COLUMNS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns.schema) as writer:
        writer.write_table(columns, 2)
    body = bytearray(sink.getvalue())
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place = rng.randrange(len(body))
        stop = place + rng.choice((1, 1, 1, 4, 8))
        size = rng.choice((stop - place, stop - place, stop - place, 0))
        body[place:stop] = rng.choice((0, 1, 127, 128, 255)).to_bytes() * size
    return bytes(body)


ARROW_COLUMNS = [
    pa.table({"username": ["ada", "grace", None]}),
    pa.table({"username": pa.array(["ada", "ada"]).dictionary_encode()}),
    pa.table({"email_sha256": pa.array([bytes(32)] * 3, pa.binary(32))}),
    pa.table({"person": [1, 2, 3], "lists": [[1], [], [2, 3]], "flag": [True, None, False]}),
    pa.table({"number": pa.array([1.5, None]), "inner": [{"a": 1}, {"a": None}]}),
]


def read_json(body: bytes) -> None:
    _read_members(body, JSON_LINES)


def read_csv(body: bytes) -> None:
    _read_members(body, CSV)


def read_arrow(body: bytes) -> None:
    _read_members(body, ARROW)


def _read_members(body: bytes, media_type: str) -> None:
    try:
        read_members(io.BytesIO(body), media_type, RowLimit(10**6, TooLargeError("too many")))
    except (MalformedMembersError, TooLargeError):
        return


def read_message(body: bytes) -> None:
    """Read a message of a platform's adapter, and everything in it."""
    try:
        messages.read(io.BytesIO(body), limit=10**6).columns.to_pylist()
    except (messages.WireError, ValueError, OverflowError):
        return


def search(
    make: Callable[[random.Random], bytes], read: Callable[[bytes], None], cases: int
) -> int:
    """Read as many bodies, and return how many."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rng = random.Random(22)
    for _ in range(cases):
        read(make(rng))
    return cases


SEARCHES = {
    "JSON Lines": (json_body, read_json),
    "CSV": (csv_body, read_csv),
    "Arrow": (arrow_body, read_arrow),
    "messages of adapters": (arrow_body, read_message),
}


def elsewhere(
    make: Callable[[random.Random], bytes], read: Callable[[bytes], None], cases: int
) -> int:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(search, make, read, cases).result()


def search_all(cases: int) -> list[str]:
    """Search with every reader in turn, and return the names of those that came through."""
    return [name for name, (make, read) in SEARCHES.items() if search(make, read, cases)]


def test_bytes_from_outside_do_not_end_the_process() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(search_all, 3_000).result() == list(SEARCHES)


@pytest.mark.long
@pytest.mark.parametrize("name", SEARCHES)
def test_many_bytes_from_outside_do_not_end_the_process(name: str) -> None:
    assert elsewhere(*SEARCHES[name], 60_000) == 60_000


def read_json_with_pyarrow(body: bytes) -> None:
    try:
        pyarrow.json.read_json(
            io.BytesIO(body),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema([("username", pa.string())]),
                unexpected_field_behavior="error",
            ),
        )
    except pa.ArrowException:
        return


def test_the_search_finds_that_pyarrow_reads_null_and_ends_the_process() -> None:
    """The twin: pyarrow's own reader of JSON, which `api.audiences.json_lines` replaces."""
    with pytest.raises(BrokenProcessPool):
        elsewhere(json_body, read_json_with_pyarrow, 3_000)
