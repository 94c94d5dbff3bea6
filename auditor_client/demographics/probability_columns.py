"""Probabilities of groups, one row per person, with the names of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError

Floats = NDArray[np.float64]

# Categories of the census tables of 2010, in their order: six exclusive ones (OMB 1997).
CATEGORIES: Final = ("white", "black", "api", "native", "multiple", "hispanic")
# The two groups of the paper's outcome test (§7.3.1): historically marginalised, and others.
HSM: Final = {"HSM": ("black", "hispanic", "native"), "non-HSM": ("white", "api", "multiple")}

_NEAR = 1e-6


class Probabilities(NDArray[np.float64]):
    """Array of n rows and k named columns: `p["black"]` is a column, `p[7]` a row.

    Selected rows keep the names. Every other operation gives a plain array, so that no name labels
    a wrong column.
    """

    columns: tuple[str, ...]

    def __new__(cls, values: Any, columns: Sequence[str]) -> "Probabilities":
        array = np.array(values, np.float64, ndmin=2).view(cls)
        array.columns = tuple(columns)
        if array.shape[1] != len(set(array.columns)):
            raise InputError(
                f"{array.shape[1]} columns need the same number of different names.",
                case="group-names",
            )
        return array

    def __array_finalize__(self, source: object) -> None:
        self.columns = ()

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, index: Any) -> Any:
        plain = self.view(np.ndarray)
        if isinstance(index, str):
            return plain[:, self.place(index)]
        found = plain[index]
        if isinstance(index, tuple) or np.ndim(found) != 2:
            return found
        return Probabilities(found, self.columns)

    def place(self, name: str) -> int:
        """Return the number of the column with this name."""
        if name not in self.columns:
            raise InputError(
                f"There is no group {name!r}. The groups are: {', '.join(self.columns)}.",
                case="no-such-group",
            )
        return self.columns.index(name)

    def as_columns(self) -> dict[str, Floats]:
        """Return the columns by name of group, from which data frames are made."""
        return {name: self[name] for name in self.columns}


def checked(values: Any, columns: Sequence[str]) -> Probabilities:
    """Return vectors from any source, after checks that they are not negative and add up to one."""
    found = Probabilities(values, columns)
    plain = np.asarray(found)
    wrong = ~(np.isfinite(plain).all(axis=1) & (plain >= 0).all(axis=1))
    wrong |= ~(np.abs(plain.sum(axis=1) - 1) <= _NEAR)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"Row {row} (the first is 0) is not a probability vector: "
            f"{plain[row].tolist()}. Each row holds numbers from 0 to 1 that add up to 1. "
            "Leave out people about whom nothing is known.",
            case="not-a-probability-vector",
        )
    return found


def hard(labels: Sequence[str], columns: Sequence[str] | None = None) -> Probabilities:
    """Return certain labels as vectors of one and zeros, with groups in order of their names."""
    names = tuple(columns) if columns is not None else tuple(sorted(set(labels)))
    columns_by_name = {name: number for number, name in enumerate(names)}
    unknown = sorted({str(label) for label in labels} - set(columns_by_name))
    if unknown:
        raise InputError(
            f"Labels that name no group: {', '.join(unknown)}. Groups: {', '.join(names)}.",
            case="unknown-labels",
        )
    rows = np.fromiter((columns_by_name[label] for label in labels), np.intp, len(labels))
    return Probabilities(np.eye(len(names))[rows], names)


def coarsened(found: Probabilities, groups: Mapping[str, Sequence[str]] = HSM) -> Probabilities:
    """Return fewer groups: each is the sum of some columns, and each column is in exactly one."""
    parts = [name for members in groups.values() for name in members]
    if sorted(parts) != sorted(found.columns):
        raise InputError(
            f"Each of {', '.join(found.columns)} must be in exactly one of the groups.",
            case="not-a-partition",
        )
    sums = [sum(found[name] for name in members) for members in groups.values()]
    return Probabilities(np.column_stack(sums), tuple(groups))
