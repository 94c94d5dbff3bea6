"""Arrow streams of strangers, which may be small and say that they are large.

A compressed buffer of a few kilobytes can stand for gigabytes, and an array of nothing for any
number of rows. So the schema is judged before any rows are read, and compressed ones are refused:
then there is nothing in memory that was not in the body, whose size is limited.
"""

from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa

from api.arrow_messages import compressed


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
        if compressed(message):
            raise pa.ArrowInvalid("compressed buffers are not accepted: write without compression")
        yield pa.ipc.read_record_batch(message, schema)
