"""Members of a group in an upload: CSV, JSON Lines or an Arrow stream of one column.

The column's name is the kind of identifier. Errors name the line: the upload is the auditor's own,
so nothing private is revealed.
"""

import re
from binascii import unhexlify
from typing import IO, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from api.audiences.arrow_streams import read_stream
from api.audiences.json_lines import read_json_lines
from api.audiences.media_types import ARROW, CSV, JSON_LINES, MEDIA_TYPES, media_type_of
from api.audiences.row_limit import RowLimit
from api.kernel.errors import MalformedMembersError, UnsupportedMediaTypeError
from openapi.resources.audiences import IDENTIFIER_KINDS
from privacy.commitment import username_tokens

DIGEST_TYPE = pa.binary(32)


class Members(NamedTuple):
    """Kind of identifier, and the identifiers: strings, or 32 bytes each for hashes."""

    kind: str
    identifiers: pa.Array


def read_members(body: IO[bytes], content_type: str, limit: RowLimit) -> Members:
    """Return the identifiers of a part, or raise an error that names the line."""
    media_type = media_type_of(content_type)
    try:
        table = _parse(body, media_type, limit)
        limit.check(len(table))
        # The offsets and characters that an Arrow stream states may be wrong.
        table.validate(full=True)
        kind = _kind(table.schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(error) from error
    header = 0 if media_type == JSON_LINES else 1
    column = combine_chunks(table.column(kind))
    if column.null_count:
        _refuse(pc.is_null(column), "is empty", header)
    return Members(kind, (_usernames if kind == "username" else _hashes)(column, header))


def combine_chunks(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one array, without a copy if it is one array already."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays([pa.array([], column.type), *column.chunks])


def tokens(kind: str, identifiers: pa.Array) -> bytes:
    """Return the identifiers as the commitment hashes them, 32 bytes each."""
    if kind == "username":
        return username_tokens(identifiers.to_pylist())
    data = identifiers.buffers()[1]
    start = identifiers.offset * 32
    return bytes(data[start : start + len(identifiers) * 32]) if data else b""


def _parse(body: IO[bytes], media_type: str, limit: RowLimit) -> pa.Table:
    if media_type == ARROW:
        return read_stream(body, _check_schema, limit)
    if media_type == CSV:
        _refuse_wide(body)
        strings = {kind: pa.string() for kind in IDENTIFIER_KINDS}
        # Only the empty field is null: "Nan" and "NA" are names.
        options = pyarrow.csv.ConvertOptions(
            column_types=strings, strings_can_be_null=True, null_values=[""]
        )
        # In one thread, an error names its row.
        reading = pyarrow.csv.ReadOptions(use_threads=False)
        return pyarrow.csv.read_csv(body, read_options=reading, convert_options=options)
    if media_type == JSON_LINES:
        return read_json_lines(body, limit)
    raise UnsupportedMediaTypeError(f"Send the members as one of {', '.join(MEDIA_TYPES)}.")


def _refuse_wide(body: IO[bytes]) -> None:
    """Refuse a header of more than a hundred columns, which would cost the parser far more."""
    header = body.read(2**21)
    body.seek(0)
    if re.split(rb"[\r\n]", header, maxsplit=1)[0].count(b",") > 100:
        raise MalformedMembersError(
            "The members must have one column. This header has more than a hundred.", line=1
        )


def _unreadable(error: Exception) -> MalformedMembersError:
    message = str(error).split("\n")[0][:300]
    found = re.search(r"[Rr]ow #?(\d+)", message)
    line = int(found.group(1)) if found else None
    return MalformedMembersError(f"The members cannot be read: {message}", line=line)


def _kind(schema: pa.Schema) -> str:
    if len(schema) != 1 or schema.names[0] not in IDENTIFIER_KINDS:
        names = ", ".join(schema.names[:5])
        raise MalformedMembersError(
            f"The members must have one column, named {' or '.join(IDENTIFIER_KINDS)}."
            f" Found: {names}.",
            line=1,
        )
    return cast("str", schema.names[0])


def _check_schema(schema: pa.Schema) -> None:
    """Refuse column types that no identifier has."""
    kind, found = _kind(schema), schema.types[0]
    if pa.types.is_string(found) or pa.types.is_large_string(found):
        return
    if kind == "username":
        raise MalformedMembersError("User names must be strings.", line=1)
    if found != DIGEST_TYPE:
        raise MalformedMembersError("Hashes must be 64 hexadecimal digits or 32 bytes.", line=1)


def _usernames(column: pa.Array, header: int) -> pa.Array:
    column = column.cast(pa.string())
    size = pc.utf8_length(column)
    _refuse(pc.or_(pc.less(size, 1), pc.greater(size, 200)), "is not a user name", header)
    _refuse(pc.match_substring_regex(column, r"\s"), "has white space in it", header)
    _refuse(pc.match_substring_regex(column, "[[:cntrl:]]"), "has control characters in it", header)
    return column


def _hashes(column: pa.Array, header: int) -> pa.Array:
    if column.type == DIGEST_TYPE:
        return column
    well_formed = pc.match_substring_regex(column, "^[0-9a-fA-F]{64}$")
    _refuse(pc.invert(well_formed), "is not a SHA-256 of 64 hexadecimal digits", header)
    fixed = column.cast(pa.binary()).cast(pa.binary(64))
    digits = memoryview(fixed.buffers()[1] or b"")[64 * fixed.offset :]
    raw = unhexlify(digits[: 64 * len(fixed)])
    return pa.Array.from_buffers(DIGEST_TYPE, len(column), [None, pa.py_buffer(raw)])


def _refuse(wrong: pa.Array, what: str, header: int) -> None:
    """Raise an error that names the line of the first wrong row, after `header` lines."""
    first = pc.index(wrong, True).as_py()
    if first >= 0:
        line = first + header + 1
        raise MalformedMembersError(
            f"Line {line}: the identifier {what}. Nothing of this part was stored.", line=line
        )
