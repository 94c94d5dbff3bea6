"""Lines of an export, read into entries by strict types.

The types refuse floats, integers beyond 2⁵³, deep nesting and unknown members. Writing the entry
again must give the same bytes, which excludes repeated keys, spaces and other spellings. RFC 8785
sorts keys by UTF-16 and msgspec by code point. For ASCII both are the same; rfc8785 writes the few
lines that are not ASCII.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger import statements
from privacy.ledger.entries import format_instant
from privacy.receipts import canonical

MOST_NESTED = 8
Whole = Annotated[int, msgspec.Meta(ge=1 - 2**53, le=2**53 - 1)]

if TYPE_CHECKING:
    Value = Any
else:
    Value = None | bool | str | Whole
    for _ in range(MOST_NESTED):
        Value = None | bool | str | Whole | list[Value] | dict[str, Value]


class ExportedStatement(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Statement in an entry."""

    body: dict[str, Value]
    by: str
    key: str
    signature: str


class Signed(msgspec.Struct, gc=False):
    """Signed content of a statement, as `statements.payload` builds it."""

    action: str
    body: dict[str, Value]
    by: str
    key: str
    platform: str


class ExportedEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One entry, as `entries.encode` writes it."""

    at: datetime
    auditor: str | None
    facts: dict[str, Value]
    kind: str
    number: Whole
    statement: ExportedStatement | None = None


class Proven(msgspec.Struct, forbid_unknown_fields=True):
    """Line of an auditor's export: the entry's own line, and its inclusion proof."""

    entry: str
    path: list[str]


_entry = msgspec.json.Decoder(ExportedEntry)
_proven = msgspec.json.Decoder(Proven)
_encoder = msgspec.json.Encoder(order="sorted")


def parse(line: bytes) -> ExportedEntry:
    """Return the entry in a line without its end, if the line is the canonical form."""
    try:
        entry = _entry.decode(line)
    except ValueError as error:
        raise EvidenceError(f"this is not an entry: {error}", case="not-an-entry") from error
    plain = line.isascii() and _is_plain(entry)
    if (_encoder.encode(entry) if plain else _canonical(line, entry)) != line:
        raise EvidenceError("this is not the canonical form of the entry", case="not-canonical")
    return entry


def parse_all(batch: Sequence[bytes]) -> Iterable[ExportedEntry]:
    """Return `parse` of each line, faster: if all lines are valid together, none is checked
    alone.
    """
    whole = b"\n".join(batch)
    try:
        entries = _entry.decode_lines(whole)
    except ValueError:
        return map(parse, batch)
    plain = whole.isascii() and all(map(_is_plain, entries))
    if plain and len(entries) == len(batch) and _encoder.encode_lines(entries) == whole + b"\n":
        return entries
    return map(parse, batch)


def _is_plain(entry: ExportedEntry) -> bool:
    """Tell whether msgspec writes the entry's time as this module does: it omits microseconds of
    0.
    """
    return entry.at.microsecond != 0 and entry.at.tzinfo is UTC


def _canonical(line: bytes, entry: ExportedEntry) -> bytes:
    if entry.at.tzinfo is None:
        raise EvidenceError("its time has no time zone", case="entry-without-time-zone")
    members: dict[str, Any] = msgspec.json.decode(line)
    return canonical(members | {"at": format_instant(entry.at)})


def signed_payload(platform: str, kind: str, statement: ExportedStatement) -> bytes:
    """Return the bytes that the maker of the statement signed: `statements.payload`, faster."""
    whole = Signed(kind, statement.body, statement.by, statement.key, platform)
    written = _encoder.encode(whole)
    if written.isascii():
        return written
    return statements.payload(platform, kind, statement.by, statement.key, statement.body)


def parse_proven(line: bytes) -> Proven:
    try:
        return _proven.decode(line)
    except ValueError as error:
        raise EvidenceError(
            f"this is not an entry with its proof: {error}", case="not-a-proven-entry"
        ) from error
