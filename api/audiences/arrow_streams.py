"""Arrow streams of strangers, which may be small and say that they are large.

A compressed buffer of a few kilobytes can stand for gigabytes, and an array of nothing for any
number of rows. So the schema is judged before any rows are read, and compressed ones are refused:
then there is nothing in memory that was not in the body, whose size is limited. Rows and batches
are counted before the rows are looked at.
"""

from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa

from api.audiences.row_limit import RowLimit
from api.kernel.arrow_ipc import compressed

# A batch costs about as much as thirty rows, even an empty one.
_MOST_BATCHES = 10_000


def read_stream(body: IO[bytes], check: Callable[[pa.Schema], None], limit: RowLimit) -> pa.Table:
    """Return the table of a stream, once `check` has found nothing wrong with its schema."""
    messages = iter(pa.ipc.MessageReader.open_stream(body))
    first = next(messages, None)
    # Arrow takes the caller's word for what a message is, and crashes where it is not.
    if first is None or first.type != "schema":
        raise pa.ArrowInvalid("the stream does not begin with a schema")
    schema = pa.ipc.read_schema(first)
    check(schema)
    return pa.Table.from_batches(_batches(messages, schema, limit), schema)


def _batches(
    messages: Iterator[pa.Message], schema: pa.Schema, limit: RowLimit
) -> Iterator[pa.RecordBatch]:
    rows = 0
    for number, message in enumerate(messages):
        if number >= _MOST_BATCHES:
            raise pa.ArrowInvalid(f"more than {_MOST_BATCHES} record batches: write larger ones")
        if message.type != "record batch":
            raise pa.ArrowInvalid(f"a {message.type} message is not expected here")
        if compressed(message):
            raise pa.ArrowInvalid("compressed buffers are not accepted: write without compression")
        batch = pa.ipc.read_record_batch(message, schema)
        rows += batch.num_rows
        limit.check(rows)
        yield batch
