"""Results as a DataFrame, by Polars, which is an extra (`platform-auditor[logs]`)."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow as pa

from auditor_client.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def data_frame(table: pa.Table) -> "pl.DataFrame":
    """Return the table as a Polars DataFrame; raise if Polars is not installed."""
    if find_spec("polars") is None:
        raise InputError(
            "frame() returns a Polars DataFrame, and Polars is not installed. Install it with: pip"
            ' install "platform-auditor[logs]". Without Polars, table() returns the same numbers as'
            " an Arrow table, and table().to_pandas() as a pandas DataFrame.",
            case="no-polars",
        )
    import polars as pl  # importing takes a second, and only this function needs it

    return pl.DataFrame(table)
