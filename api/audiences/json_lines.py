"""Members in JSON Lines: one object per line, with one identifier.

Python's own parser reads each line. pyarrow's JSON reader ends the process if the first value is
`null` (pyarrow 26.0.1). The length of a line is checked before it is parsed, so that no line takes
much more memory than it has bytes.
"""

import json
import re
from collections.abc import Iterator
from typing import IO

import pyarrow as pa

from api.audiences.row_limit import RowLimit
from api.kernel.errors import MalformedMembersError

# A user name of 200 characters, each written as two escapes, has 2,400 bytes.
LONGEST_LINE = 16_384
# Bytes of lines that are parsed before they are added to the table.
_CHUNK = 262_144
_WHITE_SPACE = b" \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Python decodes one half of an escaped surrogate pair, which is not a character.
_SURROGATE = re.compile("[\ud800-\udfff]")
# An object becomes the tuple of its pairs, so that a duplicate name is detected.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple)


def read_json_lines(body: IO[bytes], limit: RowLimit) -> pa.Table:
    """Return the one column of the lines, or raise an error that names the line.

    Lines of white space only are not counted. A field that is `null` counts as absent.
    """
    kind, rows, chunks = "", 0, []
    for lines in _chunks(body):
        pairs = [_pair(line, number) for number, line in enumerate(lines, rows + 1)]
        kind = kind or pairs[0][0]
        for number, (name, _) in enumerate(pairs, rows + 1):
            if name != kind:
                raise _wrong(number, f"has the field {name[:50]!r}; the first line has {kind!r}")
        rows += len(pairs)
        limit.check(rows)
        chunks.append(pa.array([value for _, value in pairs], pa.string()))
    if not chunks:
        raise MalformedMembersError("The members cannot be read: there are no lines.", line=None)
    return pa.table({kind: pa.chunked_array(chunks)})


def _chunks(body: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines that are not empty, without surrounding white space, in chunks."""
    mark = body.read(len(_BYTE_ORDER_MARK))
    if mark != _BYTE_ORDER_MARK:
        body.seek(0)
    while found := body.readlines(_CHUNK):
        if lines := [line for raw in found if (line := raw.strip(_WHITE_SPACE))]:
            yield lines


def _pair(line: bytes, number: int) -> tuple[str, str]:
    """Return the one field of a line that is not null, and its value."""
    value = _parse(line, number)
    if not isinstance(value, tuple):
        raise _wrong(number, "is not an object")
    if len({name for name, _ in value}) < len(value):
        raise _wrong(number, "has a field twice")
    filled = [pair for pair in value if pair[1] is not None]
    if len(filled) != 1:
        raise _wrong(number, "is empty" if value and not filled else "must have one field")
    name, identifier = filled[0]
    if not isinstance(identifier, str):
        raise _wrong(number, "has an identifier that is not a string")
    if not (name + identifier).isascii() and _SURROGATE.search(name + identifier):
        raise _wrong(number, "has a surrogate, which is not a character")
    return name, identifier


def _parse(line: bytes, number: int) -> object:
    """Return the value of a line, with objects as tuples of pairs."""
    if len(line) > LONGEST_LINE:
        raise _wrong(number, f"is longer than {LONGEST_LINE} bytes")
    try:
        text = line.decode()
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        raise _wrong(number, "is not JSON in UTF-8") from None
    if end != len(text):
        raise _wrong(number, "continues after its first value")
    return value


def _wrong(number: int, what: str) -> MalformedMembersError:
    return MalformedMembersError(
        f"Line {number} {what}. Nothing of this part was stored. Send one object per line, with one"
        " identifier, as a string.",
        line=number,
    )
