"""Identifiers while their audience is open: Arrow streams, which are read where they lie."""

from typing import NamedTuple

import pyarrow as pa

from api.audiences.members import Members, in_one


class Packed(NamedTuple):
    kind: str
    rows: int
    data: bytes


def pack(members: Members) -> Packed:
    kind, identifiers = members
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({kind: identifiers})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return Packed(kind, len(identifiers), bytes(sink.getvalue()))


def unpack(data: bytes) -> Members:
    table = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
    [kind] = table.column_names
    return Members(kind, in_one(table.column(0)))
