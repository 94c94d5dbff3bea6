"""Messages between the service and a platform's adapter (write-an-adapter.md).

docs/how-to/platforms/write-an-adapter.md describes them. Every call is an Arrow stream in each
direction. Parameters that are not columns are JSON in the metadata of the schema, under `ask`. An
answer may have metadata of its own.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal

import pyarrow as pa

from api.kernel.arrow_ipc import compressed

PROTOCOL: Literal[1] = 1
MEDIA_TYPE = "application/vnd.apache.arrow.stream"
# URL of the public facts, and the prefix of the URLs of all calls.
FACTS = "/v1/platform"
CALLS = "/v1/"
ROWS = 65_536
# End of a stream [Arrow columnar format, IPC streaming format]; without it, rows are missing.
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_ASK = b"ask"
_MODEL = b"model_digest"


class WireError(ValueError):
    """Invalid bytes of a message; the error names no value."""


class MessageTooLargeError(WireError):
    """A message with more bytes than the limit."""


@dataclass(frozen=True)
class Message:
    """Request or answer of a call: columns, and parameters."""

    columns: pa.Table
    ask: Mapping[str, Any] = field(default_factory=dict)
    model_digest: str | None = None


def write(message: Message, batches: Iterable[pa.RecordBatch] | None = None) -> Iterator[bytes]:
    """Yield the bytes of a message, a batch of rows at a time; `batches` replace its own rows."""
    said: dict[bytes, bytes] = {_ASK: json.dumps(message.ask).encode()}
    if message.model_digest is not None:
        said[_MODEL] = message.model_digest.encode()
    schema = message.columns.schema.with_metadata(said)
    rows = message.columns.to_batches(ROWS) if batches is None else batches
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)
            yield _taken(sink)
    yield _taken(sink)


def read(source: BinaryIO, limit: int | None = None, rows: int | None = None) -> Message:
    """Read and check a message, because Arrow itself trusts the offsets that it receives.

    At most `limit` bytes of columns are held, and no batches are read beyond `rows` rows.
    """
    try:
        with pa.ipc.open_stream(io.BufferedReader(_Uncompressed(source))) as reader:
            schema, batches = reader.schema, list(_read_bounded(reader, limit, rows))
        said = schema.metadata or {}
        model = said.get(_MODEL)
        columns = pa.Table.from_batches(batches, schema.remove_metadata())
        ask = json.loads(said.get(_ASK, b"{}"))
        return Message(columns, ask, model.decode() if model is not None else None)
    except WireError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise WireError("not a valid Arrow stream of this protocol") from error


def _read_bounded(
    reader: Iterable[pa.RecordBatch], limit: int | None, rows: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield the batches within the limits; a row of an empty type counts as 8 bytes."""
    size = seen = 0
    for batch in reader:
        # The size is computed from the batch's offsets, which may point outside of it.
        batch.validate()
        size, seen = size + max(batch.nbytes, 8 * len(batch)), seen + len(batch)
        if limit is not None and size > limit:
            raise MessageTooLargeError("the message is larger than the limit")
        batch.validate(full=True)
        yield batch
        if rows is not None and seen >= rows:
            return


class _Uncompressed(io.RawIOBase):
    """Stream that is read message by message, and refuses a compressed one before reading it."""

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self._messages = iter(pa.ipc.MessageReader.open_stream(source))
        self._message = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._message and (message := next(self._messages, None)):
            if compressed(message):
                raise WireError("the message is compressed; send it without compression")
            self._message = memoryview(message.serialize()).cast("B")
        size = min(len(buffer), len(self._message))
        buffer[:size] = self._message[:size]
        self._message = self._message[size:]
        return size


def _taken(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
