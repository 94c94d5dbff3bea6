"""Arrow streams from untrusted senders, which may be small and claim to be large.

A compressed buffer of a few kilobytes can expand to gigabytes, and an empty array can claim any
number of rows. So the schema is checked before any rows are read, and compressed buffers are
refused. Then everything in memory was in the body, whose size is limited. Rows and batches are
counted before the rows are read.
"""

from collections.abc import Callable, Iterator
from typing import IO

import pyarrow as pa

from api.audiences.row_limit import RowLimit
from api.kernel.arrow_ipc import compressed

# A batch costs about as much as thirty rows, even an empty one.
_MOST_BATCHES = 10_000


def read_stream(body: IO[bytes], check: Callable[[pa.Schema], None], limit: RowLimit) -> pa.Table:
    """Return the table of a stream, after `check` has accepted its schema."""
    messages = iter(pa.ipc.MessageReader.open_stream(body))
    first = next(messages, None)
    # Arrow trusts the stated type of a message, and crashes if it is wrong.
    if first is None or first.type != "schema":
        raise pa.ArrowInvalid("The stream does not begin with a schema.")
    schema = pa.ipc.read_schema(first)
    check(schema)
    return pa.Table.from_batches(_batches(messages, schema, limit), schema)


def _batches(
    messages: Iterator[pa.Message], schema: pa.Schema, limit: RowLimit
) -> Iterator[pa.RecordBatch]:
    rows = 0
    for number, message in enumerate(messages):
        if number >= _MOST_BATCHES:
            raise pa.ArrowInvalid(f"More than {_MOST_BATCHES} record batches: write larger ones.")
        if message.type != "record batch":
            raise pa.ArrowInvalid(f"The stream has a {message.type} message instead of a batch.")
        if compressed(message):
            raise pa.ArrowInvalid("Compressed buffers are not accepted: write without compression.")
        batch = pa.ipc.read_record_batch(message, schema)
        rows += batch.num_rows
        limit.check(rows)
        yield batch
