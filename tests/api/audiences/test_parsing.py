"""Members as they arrive: the right identifiers, or a complaint with the line, and nothing else."""

import io
from contextlib import nullcontext
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.audiences.json_lines import LONGEST_LINE
from api.audiences.media_types import ARROW, CSV, JSON_LINES
from api.audiences.parsing import read_members, tokens
from api.audiences.row_limit import RowLimit
from api.kernel.errors import MalformedMembersError, TooLargeError, UnsupportedMediaTypeError

HASHES = [sha256(bytes([number])).digest() for number in range(4)]
HEX = [digest.hex() for digest in HASHES]


def no_limit() -> RowLimit:
    return RowLimit(10**9, TooLargeError("too many rows"))


def read(body: bytes | str, media_type: str = CSV) -> tuple[str, list[str | bytes]]:
    raw = body.encode() if isinstance(body, str) else body
    kind, column = read_members(io.BytesIO(raw), media_type, no_limit())
    return kind, column.to_pylist()


def refused(body: bytes | str, media_type: str = CSV) -> int | None:
    """The line that is complained about."""
    with pytest.raises(MalformedMembersError) as complaint:
        read(body, media_type)
    line: int | None = complaint.value.members["line"]
    return line


def stream(*columns: tuple[str, pa.Array], compression: str | None = None) -> bytes:
    # Not pa.table(dict): a name may come twice.
    arrays = [column for _, column in columns]
    return stream_of(pa.table(arrays, names=[name for name, _ in columns]), compression)


def stream_of(table: pa.Table, compression: str | None = None, rows: int | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, rows)
    return bytes(sink.getvalue())


# --- CSV


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("username\nada\ngrace\n", ["ada", "grace"]),
        ("username\nada\ngrace", ["ada", "grace"]),
        ("username\r\nada\r\ngrace\r\n", ["ada", "grace"]),
        ("\ufeffusername\nada\n", ["ada"]),
        ('"username"\n"ada"\n', ["ada"]),
        ('username\n"a,b"\n"c""d"\n', ["a,b", 'c"d']),
        ("username\nädä\n李\n", ["ädä", "李"]),
        # Words that other programs take for nothing, and numbers, are names like others.
        ("username\nnull\nNA\nnan\nNaN\n", ["null", "NA", "nan", "NaN"]),
        ("username\n007\n1.50\ntrue\n2020-01-01\n", ["007", "1.50", "true", "2020-01-01"]),
        ("username\n", []),
        (f"username\n{'x' * 200}\n", ["x" * 200]),
    ],
)
def test_csv(body: str, names: list[str]) -> None:
    assert read(body) == ("username", names)


def test_hashes_in_csv_are_read_in_either_case() -> None:
    for kind in ("email_sha256", "phone_sha256"):
        assert read(f"{kind}\n{HEX[0]}\n{HEX[1].upper()}\n") == (kind, HASHES[:2])


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", None),
        (b"\n", None),
        (b"username", None),
        (b"\xff\xfe", None),
        (b"user\xffname\nada\n", None),
        (b"name\nada\n", 1),
        (b"USERNAME\nada\n", 1),
        (b"ada\ngrace\n", 1),
        (b"username,username\nada,ada\n", 1),
        (b"username,email_sha256\nada,\n", 1),
        (b"username\nada\ngrace,hopper\nalan\n", 3),
        (b'username\nada\n""\n', 3),
        (b"username\nada\n\xff\n", 3),
        (b"username\nada\nada lovelace\n", 3),
        (b'username\n"ada\nlovelace"\n', 2),
        (b"username\n" + b"x" * 201 + b"\n", 2),
        (b"email_sha256\n" + HEX[0].encode() + b"\nada@example.org\n", 3),
        (b"email_sha256\n" + HEX[0].encode()[:-1] + b"\n", 2),
        (b"email_sha256\n" + HEX[0].encode() + b"0\n", 2),
        (b'email_sha256\n"' + HEX[0].encode() + b'\n"\n', 2),
        (b"email_sha256\n0x" + HEX[0].encode()[:62] + b"\n", 2),
    ],
)
def test_malformed_csv_is_reported_with_its_line(body: bytes, line: int | None) -> None:
    assert refused(body) == line


def test_the_line_number_is_right_far_into_a_large_file() -> None:
    many = 300_000
    assert refused("username\n" + "ada\n" * many + "a,b\n") == many + 2
    assert refused("username\n" + "ada\n" * many + "a b\n") == many + 2
    rows = '{"username":"adalovelace"}\n' * many
    assert refused(rows + '{"username":5}\n', JSON_LINES) == many + 1
    assert refused(rows + '{"username":"a b"}\n', JSON_LINES) == many + 1


# --- JSON Lines


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ('{"username":"ada"}\n{"username":"grace"}\n', ["ada", "grace"]),
        ('{"username":"ada"}\r\n{ "username" : "grace" }', ["ada", "grace"]),
        ('{"username":"null"}\n{"username":"2020-01-01"}\n', ["null", "2020-01-01"]),
        ('{"username":"a\\"b"}\n{"username":"\\u00e4"}\n', ['a"b', "ä"]),
        ('{"username":"ada","email_sha256":null}\n', ["ada"]),
        ('\ufeff\n{"username":"ada"}\n \r\n\t{"username":"grace"}\n\n', ["ada", "grace"]),
        (f'{{"username":"{"x" * 200}"}}', ["x" * 200]),
        ('{"username":"' + "\\ud83d\\ude00" * 200 + '"}', ["\U0001f600" * 200]),
    ],
)
def test_json_lines(body: str, names: list[str]) -> None:
    assert read(body, JSON_LINES) == ("username", names)
    assert read(body, "Application/X-NDJSON; charset=utf-8") == ("username", names)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", None),
        (b"ada", 1),
        (b"[]", 1),
        (b'["ada"]', 1),
        (b"{}", 1),
        (b'{"username":null}', 1),
        (b'{"username":"ada"}\n{"username":null}', 2),
        (b'{"username":"ada"}\n{"username":7}', 2),
        (b'{"username":"ada"}\n{"username":["ada"]}', 2),
        (b'{"username":"ada"}\n{"name":"grace"}', 2),
        (b'{"username":"ada","extra":1}', 1),
        (b'{"username":"ada","username":"ada"}', 1),
        (b'{"username":"ada"}\n{"username":"gra', 2),
        (b'{"username":"ada"}\n{"username":"a b"}', 2),
        (b'{"username":"ada"}\n{"username":""}', 2),
        (b'{"username":"\xff"}', 1),
        (b'{"username":"\\ud800"}', 1),
        (b'{"username":"ada"}\n{"email_sha256":"' + HEX[0].encode() + b'"}', 2),
        (b"null", 1),
        (b"null\n", 1),
        (b"\n null\n", 1),
        (b'{"username":"ada"}\nnull\n', 2),
        (b'{"username":"ada"}{"username":"grace"}', 1),
        (b'{"username":\n"ada"}', 1),
        (b'{"username":"ada"' + b" " * LONGEST_LINE + b"}", 1),
        (b'{"username":"ada"},\n{"username":"grace"}', 1),
        (b'{"username":"ada"}\n' + b"[" * LONGEST_LINE, 2),
        (b'{"username":"ada"}\n' + b" {" * LONGEST_LINE, 2),
        (b'{"username":"ada"}\n{"username":' + b"1" * 5_000 + b"}", 2),
        (b'{"email_sha256":"' + HEX[0].encode() + b'"}\n{"email_sha256":"00"}', 2),
    ],
)
def test_malformed_json_lines_are_reported_with_their_line(body: bytes, line: int | None) -> None:
    assert refused(body, JSON_LINES) == line


def test_the_lines_of_many_chunks_are_one_column() -> None:
    names = [f"n{number}" for number in range(50_000)]
    body = "".join(f'{{"username":"{name}"}}\n' for name in names)
    assert read(body, JSON_LINES) == ("username", names)
    assert refused(body + '{"email_sha256":"x"}', JSON_LINES) == len(names) + 1


# --- Arrow


@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_compressed_arrow_is_refused(compression: str) -> None:
    with pytest.raises(MalformedMembersError, match="compress"):
        read(stream(("username", pa.array(["ada"])), compression=compression), ARROW)


def test_arrow() -> None:
    names = pa.array(["ada", "grace"])
    for column in (names, names.cast(pa.large_string())):
        body = stream(("username", column))
        assert read(body, ARROW) == ("username", ["ada", "grace"])
    for column in (
        pa.array(HEX),
        pa.array(HEX, pa.large_string()),
        pa.array(HASHES, pa.binary(32)),
    ):
        body = stream(("phone_sha256", column))
        assert read(body, ARROW) == ("phone_sha256", HASHES)


def test_arrow_in_many_batches_and_in_none() -> None:
    chunks = pa.chunked_array([["ada"], [], ["grace", "alan"]], pa.string())
    assert read(stream(("username", chunks)), ARROW) == ("username", ["ada", "grace", "alan"])
    for kind, type_ in (("username", pa.string()), ("email_sha256", pa.binary(32))):
        assert read(stream((kind, pa.chunked_array([], type_))), ARROW) == (kind, [])
        assert read(stream((kind, pa.array([], type_))), ARROW) == (kind, [])


@pytest.mark.parametrize("type_", [pa.binary(32), pa.string()])
def test_a_slice_is_read_as_the_slice_it_is(type_: pa.DataType) -> None:
    whole = HASHES if type_ == pa.binary(32) else HEX
    body = stream(("email_sha256", pa.array(whole, type_).slice(1, 2)))
    kind, column = read_members(io.BytesIO(body), ARROW, no_limit())
    assert column.to_pylist() == HASHES[1:3]
    assert tokens(kind, column) == b"".join(HASHES[1:3])


def test_tokens_are_those_of_a_slice_in_memory_too() -> None:
    digests, names = pa.array(HASHES, pa.binary(32)), pa.array(["ada", "grace", "alan"])
    assert tokens("email_sha256", digests.slice(1, 2)) == b"".join(HASHES[1:3])
    assert tokens("email_sha256", digests.slice(0, 0)) == b""
    assert tokens("username", names.slice(1, 1)) == sha256(b"username\x00grace").digest()


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ([], 1),
        ([("name", pa.array(["ada"]))], 1),
        ([("username", pa.array(["ada"])), ("email_sha256", pa.array(HEX[:1]))], 1),
        ([("username", pa.array(["ada"])), ("username", pa.array(["ada"]))], 1),
        ([("username", pa.array(["ada", None]))], 3),
        ([("username", pa.nulls(2))], 1),
        ([("email_sha256", pa.array([HASHES[0], None], pa.binary(32)))], 3),
        ([("username", pa.array(["ada", "ada"]).dictionary_encode())], 1),
        ([("email_sha256", pa.array(HEX).dictionary_encode())], 1),
        ([("username", pa.array(["ada"], pa.string_view()))], 1),
        ([("username", pa.RunEndEncodedArray.from_arrays([2], ["ada"]))], 1),
        ([("username", pa.array([7]))], 1),
        ([("username", pa.array([b"ada"]))], 1),
        ([("username", pa.array([["ada"]]))], 1),
        ([("username", pa.array([{"a": 1}]))], 1),
        ([("username", pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array(["a"])]))], 1),
        ([("email_sha256", pa.array([b"x" * 31], pa.binary(31)))], 1),
        ([("email_sha256", pa.array(HASHES, pa.binary()))], 1),
    ],
)
def test_a_malformed_table_is_refused(columns: list[tuple[str, pa.Array]], line: int) -> None:
    assert refused(stream(*columns), ARROW) == line


def test_an_arrow_stream_that_lies_about_itself_is_refused() -> None:
    def names(offsets: list[int], data: bytes) -> bytes:
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(data)]
        return stream(("username", pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)))

    assert read(names([0, 1, 2], b"ab"), ARROW) == ("username", ["a", "b"])
    assert refused(names([0, 1], b"\xff"), ARROW) is None
    # Offsets that point outside of the data would read other people's memory.
    good = names([0, 1, 2], b"ab")
    place = good.rindex(np.array([0, 1, 2], np.int32).tobytes())
    for lie in ([0, 1, 2**30], [0, 2, 1], [-8, 1, 2]):
        bad = good[:place] + np.array(lie, np.int32).tobytes() + good[place + 12 :]
        assert refused(bad, ARROW) is None


def test_a_stream_that_was_cut_off_is_refused_unless_only_its_end_mark_is_missing() -> None:
    body = stream(("username", pa.array(["ada", "grace"])))
    # The end mark is optional (Arrow's format, "IPC Streaming Format"): whole messages are a
    # stream, and what was lost after one shows in the digest of the part.
    schema = len(stream(("username", pa.chunked_array([], pa.string())))) - 8
    assert read(body[:schema], ARROW) == ("username", [])
    assert read(body[:-8], ARROW) == ("username", ["ada", "grace"])
    # Between a message and the end mark four bytes of the next length may have come.
    whole = {size + extra for size in (schema, len(body) - 8) for extra in (0, 4)}
    for size in set(range(len(body) - 8)) - whole:
        refused(body[:size], ARROW)


def test_another_media_type_is_not_guessed_at() -> None:
    for media_type in ("", "application/json", "text/plain", "application/octet-stream"):
        with pytest.raises(UnsupportedMediaTypeError):
            read("username\nada\n", media_type)


# --- too many rows

TWO = {
    CSV: [b"username\na\nb\n", b"username\r\na\r\nb", b"username\ra\rb\r"],
    JSON_LINES: [
        b'{"username":"a"}\n{"username":"b"}\n',
        b'\n{"username":"a"}\n\n{"username":"b"}',
    ],
    ARROW: [
        stream(("username", pa.array(["a", "b"]))),
        stream(("username", pa.chunked_array([["a"], ["b"]]))),
    ],
}
CASES = [(media_type, body) for media_type, bodies in TWO.items() for body in bodies]


@pytest.mark.parametrize(("media_type", "body"), CASES)
def test_a_part_of_too_many_rows_is_refused_once_it_is_parsed(media_type: str, body: bytes) -> None:
    for most, fits in ((1, False), (2, True)):
        limit = RowLimit(most, TooLargeError("too many rows"))
        with nullcontext() if fits else pytest.raises(TooLargeError):
            read_members(io.BytesIO(body), media_type, limit)


@pytest.mark.parametrize("step", [1, 3, 1_000])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_rows_of_text_are_counted_before_they_are_parsed(step: int, end: str) -> None:
    rows = ["username", *("ab" for _ in range(50))]
    body = "".join(row + end for row in rows).encode()
    for most, fits in ((49, False), (50, True)):
        limit = RowLimit(most, TooLargeError("too many rows"))
        with nullcontext() if fits else pytest.raises(TooLargeError):
            for at in range(0, len(body), step):
                limit.take(body[at : at + step], CSV)


def test_an_arrow_stream_is_read_no_further_than_its_limit() -> None:
    """A batch over the limit ends the reading: what follows it is not even looked at."""
    whole = stream_of(pa.table({"username": ["ada"] * 300}), rows=100)
    body = io.BytesIO(whole[:-8] + b"not a message" * 100_000)
    with pytest.raises(TooLargeError):
        read_members(body, ARROW, RowLimit(150, TooLargeError("too many rows")))
    assert body.tell() < len(whole)


def test_an_arrow_stream_of_empty_batches_is_refused() -> None:
    empty = pa.record_batch({"username": pa.array([], pa.string())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, empty.schema) as writer:
        for _ in range(10_001):
            writer.write_batch(empty)
    with pytest.raises(MalformedMembersError, match=r"\b10000\b"):
        read(bytes(sink.getvalue()), ARROW)


# --- whatever else may come

SEEDS = [
    (b"username\nada\ngrace\n", CSV),
    (b'"username"\r\n"a""b"\r\nnull\r\n', CSV),
    (b"email_sha256\n" + HEX[0].encode() + b"\n", CSV),
    (b'{"username":"ada"}\n{"username":null}\n', JSON_LINES),
    (stream(("username", pa.array(["ada", "grace", None]))), ARROW),
    (stream(("username", pa.array(["ada"], pa.large_string()))), ARROW),
    (stream(("email_sha256", pa.array(HASHES, pa.binary(32)))), ARROW),
    (stream(("username", pa.array(["ada", "ada"]).dictionary_encode())), ARROW),
]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[bytes, str]:
    """A good body with a few bytes changed, taken out or put in."""
    body, media_type = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(body)))
        stop = min(len(body), start + draw(st.integers(0, 4)))
        body = body[:start] + draw(st.binary(max_size=4)) + body[stop:]
    return body, media_type


def read_or_refused(body: bytes, media_type: str) -> None:
    """Nothing but an answer that can be committed to, or a complaint."""
    try:
        members = read_members(io.BytesIO(body), media_type, no_limit())
    except MalformedMembersError:
        return
    kind, column = members
    assert len(tokens(kind, column)) == 32 * len(column)


@settings(max_examples=1_000)
@given(damaged())
def test_no_damage_is_a_crash(sent: tuple[bytes, str]) -> None:
    read_or_refused(*sent)


@given(st.binary(max_size=200), st.sampled_from([ARROW, CSV, JSON_LINES]))
def test_no_bytes_are_a_crash(body: bytes, media_type: str) -> None:
    read_or_refused(body, media_type)


@given(st.lists(st.text(st.sampled_from("aBä7\"',;\\李😀"), min_size=1, max_size=6)))
def test_names_survive_every_format(names: list[str]) -> None:
    quoted = "".join(f'"{name.replace(chr(34), chr(34) * 2)}"\n' for name in names)
    assert read("username\n" + quoted) == ("username", names)
    assert read(stream(("username", pa.array(names, pa.string()))), ARROW) == ("username", names)
