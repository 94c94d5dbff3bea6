"""Messages of Arrow streams from outside, which may be small and claim to be large.

A compressed buffer of a few kilobytes can expand to gigabytes. The service detects compression
before it unpacks anything. Without compression, everything in memory was in the message.

[ARROW] Apache Arrow Columnar Format 1.5, "IPC Streaming Format", and Message.fbs.
"""

import struct

import pyarrow as pa

# Indices of the fields in the tables of Message.fbs.   [ARROW]
_HEADER = 2
_DICTIONARY_ROWS = 1
_COMPRESSION = 3


def compressed(message: pa.Message) -> bool:
    """Return whether the rows or dictionary of a message are compressed.

    Arrow verified its Flatbuffers.
    """
    data = bytes(message.metadata)
    try:
        table = _table(data, _uint32(data, 0), _HEADER)
        if message.type == "dictionary":
            table = _table(data, table, _DICTIONARY_ROWS)
        return message.type != "schema" and _field(data, table, _COMPRESSION) != 0
    except struct.error as error:
        raise pa.ArrowInvalid("The metadata of a message point outside of it.") from error


def _table(data: bytes, parent: int, number: int) -> int:
    """Return the position of the table to which a field of another one points."""
    offset = parent + _field(data, parent, number)
    return offset + _uint32(data, offset)


def _field(data: bytes, table: int, number: int) -> int:
    """Return the position of a field in its table, or 0 if it is absent."""
    vtable = table - int(struct.unpack_from("<i", data, table)[0])
    size = int(struct.unpack_from("<H", data, vtable)[0])
    offset = 4 + 2 * number
    return int(struct.unpack_from("<H", data, vtable + offset)[0]) if offset < size else 0


def _uint32(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
