"""Arrow streams of strangers, which may be small and say that they are large.

A compressed buffer of a few kilobytes can stand for gigabytes, and an array of nothing for any
number of rows. So the schema is judged before any rows are read, and compressed ones are refused:
then there is nothing in memory that was not in the body, whose size is limited.

[ARROW] Apache Arrow Columnar Format 1.5, "IPC Streaming Format", and Message.fbs.
"""

import struct
from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa

# Places of the fields in the tables of Message.fbs.   [ARROW]
_HEADER = 2
_COMPRESSION = 3


def read_stream(body: IO[bytes], check: Callable[[pa.Schema], None]) -> pa.Table:
    """The table of a stream, once `check` has found nothing wrong with its schema."""
    messages = iter(pa.ipc.MessageReader.open_stream(body))
    first = next(messages, None)
    # Arrow takes the caller's word for what a message is, and crashes where it is not.
    if first is None or first.type != "schema":
        raise pa.ArrowInvalid("the stream does not begin with a schema")
    schema = pa.ipc.read_schema(first)
    check(schema)
    return pa.Table.from_batches(_batches(messages, schema), schema)


def _batches(messages: Iterator[pa.Message], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for message in messages:
        if message.type != "record batch":
            raise pa.ArrowInvalid(f"a {message.type} message is not expected here")
        if _compressed(bytes(message.metadata)):
            raise pa.ArrowInvalid("compressed buffers are not accepted: write without compression")
        yield pa.ipc.read_record_batch(message, schema)


def _compressed(metadata: bytes) -> bool:
    """Whether the record batch of a Flatbuffers message, which Arrow verified, is compressed."""
    try:
        root = _uint32(metadata, 0)
        header = root + _field(metadata, root, _HEADER)
        batch = header + _uint32(metadata, header)
        return _field(metadata, batch, _COMPRESSION) != 0
    except struct.error as error:
        raise pa.ArrowInvalid("the metadata of a message point outside of it") from error


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field is in its table, 0 where it is absent."""
    vtable = table - int(struct.unpack_from("<i", data, table)[0])
    size = int(struct.unpack_from("<H", data, vtable)[0])
    place = 4 + 2 * number
    return int(struct.unpack_from("<H", data, vtable + place)[0]) if place < size else 0


def _uint32(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
