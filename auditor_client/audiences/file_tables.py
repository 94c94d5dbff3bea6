"""Tables of people from files: CSV, or Parquet."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from auditor_client.errors import InputError

PARQUET = frozenset({".parquet", ".pq"})


def read_table(file: Path, texts: Sequence[str], where: str | None) -> pa.Table:
    """Return the table in a CSV or Parquet file; identifiers and groups in a CSV are text."""
    try:
        data = file.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"There is no file {file}.", case="no-file") from error
    return parse_table(data, file, texts, where)


def parse_table(data: bytes, file: Path, texts: Sequence[str], where: str | None) -> pa.Table:
    """Return the table that these bytes of the file hold."""
    source = pa.BufferReader(data)
    try:
        if file.suffix.lower() in PARQUET:
            return pyarrow.parquet.read_table(source)
        types = dict.fromkeys(texts, pa.string()) | ({where: pa.bool_()} if where else {})
        options = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
        return pyarrow.csv.read_csv(source, convert_options=options)
    except pa.ArrowException as error:
        raise InputError(f"{file} cannot be read: {error}", case="unreadable") from error
