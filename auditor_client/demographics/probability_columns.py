"""Probabilities of groups, one row per person, with the names of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError

Floats = NDArray[np.float64]

# What the census tables of 2010 tell apart: six exclusive categories (OMB 1997), in their order.
CATEGORIES: Final = ("white", "black", "api", "native", "multiple", "hispanic")
# Historically marginalised, or not: the two groups of the paper's outcome test (§7.3.1).
HSM: Final = {"HSM": ("black", "hispanic", "native"), "non-HSM": ("white", "api", "multiple")}

_NEAR = 1e-6


class Probabilities(NDArray[np.float64]):
    """An array of n rows and k columns with names: `p["black"]` is a column, `p[7]` a row.

    Rows may be picked as of any array and keep the names; whatever else is done gives a plain
    array, so that a name never stands on the wrong column.
    """

    columns: tuple[str, ...]

    def __new__(cls, values: Any, columns: Sequence[str]) -> "Probabilities":
        array = np.array(values, np.float64, ndmin=2).view(cls)
        array.columns = tuple(columns)
        if array.shape[1] != len(set(array.columns)):
            raise InputError(
                f"{array.shape[1]} columns need as many different names.", case="group-names"
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
        """Which column has this name."""
        if name not in self.columns:
            raise InputError(
                f"There is no group {name!r}; there are: {', '.join(self.columns)}.",
                case="no-such-group",
            )
        return self.columns.index(name)

    def as_columns(self) -> dict[str, Floats]:
        """By name of group, as data frames are made from."""
        return {name: self[name] for name in self.columns}


def checked(values: Any, columns: Sequence[str]) -> Probabilities:
    """Vectors from anywhere: not negative, each adding up to one. Hard labels are such vectors."""
    found = Probabilities(values, columns)
    plain = np.asarray(found)
    wrong = ~(np.isfinite(plain).all(axis=1) & (plain >= 0).all(axis=1))
    wrong |= ~(np.abs(plain.sum(axis=1) - 1) <= _NEAR)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"Row {row} (the first is 0) is no probability vector: {plain[row].tolist()}. Each row"
            " holds numbers from 0 to 1 that add up to 1; leave out people nobody knows.",
            case="not-a-probability-vector",
        )
    return found


def hard(labels: Sequence[str], columns: Sequence[str] | None = None) -> Probabilities:
    """Labels that are sure, as vectors of one and zeros; groups in order of their names."""
    names = tuple(columns) if columns is not None else tuple(sorted(set(labels)))
    places = {name: number for number, name in enumerate(names)}
    unknown = sorted({str(label) for label in labels} - set(places))
    if unknown:
        raise InputError(
            f"Labels of no group: {', '.join(unknown)}. Groups: {', '.join(names)}.",
            case="unknown-labels",
        )
    rows = np.fromiter((places[label] for label in labels), np.intp, len(labels))
    return Probabilities(np.eye(len(names))[rows], names)


def coarsened(found: Probabilities, groups: Mapping[str, Sequence[str]] = HSM) -> Probabilities:
    """Fewer groups: each is the sum of some columns, and each column is in exactly one."""
    parts = [name for members in groups.values() for name in members]
    if sorted(parts) != sorted(found.columns):
        raise InputError(
            f"Each of {', '.join(found.columns)} must be in exactly one of the groups.",
            case="not-a-partition",
        )
    sums = [sum(found[name] for name in members) for members in groups.values()]
    return Probabilities(np.column_stack(sums), tuple(groups))
