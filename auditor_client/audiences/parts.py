"""Parts of an upload: Arrow streams of one column, each with its digest.

The split depends only on the members and the service's limit, so a resumed upload finds the parts
that arrived. The number of rows per part is kept with the salt, because the commitment is to parts.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

from openapi.resources import IdentifierKind
from privacy.commitment import commit, group_digest, part_digest, username_tokens

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
ROWS_PER_PART = 100_000
FRAMING_BYTES = 4_096
SALT_BYTES = 32


@dataclass(frozen=True)
class PartBody:
    """One part, ready to send."""

    number: int
    rows: int
    body: bytes

    @property
    def digest(self) -> str:
        """Digest in the form that the service lists."""
        return f"sha256:{sha256(self.body).hexdigest()}"

    @property
    def content_digest(self) -> str:
        """Digest in the form of the header (RFC 9530 §2)."""
        return f"sha-256=:{b64encode(sha256(self.body).digest()).decode()}:"


def rows_per_part(members: pa.Array, bytes_per_part: int) -> int:
    """Return the number of rows that certainly fit, at most `ROWS_PER_PART`."""
    widest = pc.max(pc.binary_length(members)).as_py() or 1
    # Arrow pads buffers to 64 bytes and keeps a 4-byte offset per string.
    return max(1, min(ROWS_PER_PART, (bytes_per_part - FRAMING_BYTES) // (widest + 8)))


def split_into_parts(members: pa.Array, rows: int) -> list[pa.Array]:
    """Return the members of each part of one group, in order."""
    return [members.slice(start, rows) for start in range(0, len(members), rows)]


def encode_parts(kind: IdentifierKind, members: pa.Array, rows: int) -> Iterator[PartBody]:
    """Yield the parts of one group in order; each but the last has `rows` rows."""
    for number, piece in enumerate(split_into_parts(members, rows)):
        yield PartBody(number, len(piece), _stream(kind, piece))


def commitment(salt: bytes, kind: IdentifierKind, groups: Mapping[str, Sequence[pa.Array]]) -> str:
    """Return the commitment that the service must state when it seals these groups, given as parts
    by label.
    """
    digests = {
        label: group_digest(part_digest(tokens_of(kind, part)) for part in parts)
        for label, parts in groups.items()
    }
    return commit(salt, digests)


def _stream(kind: IdentifierKind, piece: pa.Array) -> bytes:
    # Copy the array: a slice would carry its parent's buffers and other bytes.
    batch = pa.record_batch([pa.concat_arrays([piece])], names=[kind])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def tokens_of(kind: IdentifierKind, members: pa.Array) -> Iterator[bytes]:
    """Yield the members as the commitment hashes them, 32 bytes each, in chunks."""
    for start in range(0, len(members), ROWS_PER_PART):
        values = members.slice(start, ROWS_PER_PART).to_pylist()
        yield username_tokens(values) if kind == "username" else b"".join(values)
