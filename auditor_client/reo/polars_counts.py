"""Counts of a Parquet file by Polars, computed lazily: rows are never all in memory.

Polars is an extra (`platform-auditor[logs]`). Without it, Arrow reads files with the same counts,
in about twice the time. Nothing is refused here: files that Polars cannot read, or that have a
fault, go to the reader that reports the fault.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    import polars as pl


def count_rows(path: Path, labels: Sequence[str], keys: dict[str, str]) -> pa.Table | None:
    """Return numbers of `shown` and `positive` rows by the columns of `keys`, named by their
    roles.
    """
    if find_spec("polars") is None:
        return None
    import polars as pl  # importing takes a second, and only this function needs it

    try:
        lazy = pl.scan_parquet(path, glob=False)
        kinds = lazy.select(*dict.fromkeys(labels)).collect_schema()
        if not all(kind == pl.Boolean or kind.is_numeric() for kind in kinds.values()):
            return None
        by = [pl.col(column).alias(name) for name, column in keys.items()]
        flags = [_flag(name, kind) for name, kind in kinds.items()]
        found = lazy.group_by(by).agg(
            pl.len().alias("shown"),
            pl.any_horizontal(flag for flag, _ in flags).sum().alias("positive"),
            pl.any_horizontal(wrong for _, wrong in flags).sum().alias("wrong"),
        )
        cells = found.collect()
    except pl.exceptions.PolarsError:
        return None
    nameless = pl.any_horizontal(pl.col(*keys).is_null()).any()
    if not len(cells) or cells["wrong"].sum() or cells.select(nameless).item():
        return None
    return cells.drop("wrong").sort(*keys).to_arrow()


def _flag(name: str, kind: "pl.DataType") -> "tuple[pl.Expr, pl.Expr]":
    """Tell whether a signal is there, and whether it is neither there nor absent."""
    import polars as pl

    column = pl.col(name)
    if kind == pl.Boolean:
        return column, column.is_null()
    return column == 1, column.is_null() | ((column != 0) & (column != 1))
