"""People from a Parquet table: one row per person.

Columns: `person` (integers from 0, each once); identifiers by which people are matched (`username`,
`email_sha256`, `phone_sha256`; null if there is none); an attribute for each offer of samples; and
`codes`, lists of the studies that the person confirmed. All columns except `person` are optional.
The features of a model are in other columns.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from api.platforms.interfaces import NOBODY, Persons

KINDS = ("username", "email_sha256", "phone_sha256")
Offers = Mapping[str, Mapping[str, int]]


class TableError(ValueError):
    """A table that cannot be served; the message names the correction, `case` is a stable word."""

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


class PeopleTable:
    """People and Directory on a table."""

    def __init__(self, path: Path, offers: Offers) -> None:
        self._path, self._offers = path, offers
        self._names = pq.read_schema(path).names
        self._kinds = [kind for kind in KINDS if kind in self._names]
        self.persons = self._numbers()
        for attribute, values in offers.items():
            self._check(attribute, values)

    def match(self, kind: str, identifiers: pa.Array) -> Persons:
        persons, held = self.held(kind)
        if kind == "username":
            identifiers = _canonical(identifiers)
        rows = pc.index_in(identifiers.cast(held.type), value_set=held, skip_nulls=True)
        found = np.asarray(pc.fill_null(rows, NOBODY))
        return np.where(found == NOBODY, NOBODY, np.append(persons, NOBODY)[found])

    def offers(self) -> Offers:
        return self._offers

    def sample(
        self, attribute: str, sizes: Mapping[str, int], rng: np.random.Generator
    ) -> Mapping[str, Persons]:
        declared = self._column(attribute)
        return {
            value: rng.choice(self.persons[_equal(declared, value)], size, replace=False)
            for value, size in sizes.items()
        }

    def confirmed(self, code: str) -> Persons:
        if "codes" not in self._names:
            return np.empty(0, np.int64)
        codes = self._column("codes")
        rows = pc.list_parent_indices(codes).filter(pc.equal(pc.list_flatten(codes), code))
        return np.unique(self.persons[np.asarray(rows)])

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        if kind not in self._kinds:
            return np.empty(0, np.int64), pa.array([], _type_of(kind))
        return self._held[kind]

    def features(self, columns: Sequence[str], kind: np.dtype[np.generic]) -> NDArray[np.generic]:
        """Return a model's features: a row for each of `persons`, in order, and a row of zeros."""
        if missing := sorted(set(columns) - set(self._names)):
            raise TableError(f"{self._path.name} has no column {', '.join(missing)}.")
        found = np.zeros((len(self.persons) + 1, len(columns)), kind)
        for index, name in enumerate(columns):
            column = self._column(name)
            if column.null_count and kind.kind != "f":
                raise TableError(f"{name} has nulls, but the model takes integers. Fill them in.")
            found[:-1, index] = column.to_numpy(zero_copy_only=False)
        return found

    @cached_property
    def _held(self) -> Mapping[str, tuple[Persons, pa.Array]]:
        return {kind: self._holders(kind) for kind in self._kinds}

    def _holders(self, kind: str) -> tuple[Persons, pa.Array]:
        column = self._column(kind).cast(_type_of(kind))
        there = column.is_valid()
        identifiers = column.filter(there)
        identifiers = _canonical(identifiers) if kind == "username" else identifiers
        if len(identifiers.unique()) < len(identifiers):
            raise TableError(
                f"A {kind} belongs to two people. Each must resolve to at most one.",
                case="shared-identifier",
            )
        return self.persons[np.asarray(there)], identifiers

    def _numbers(self) -> Persons:
        if "person" not in self._names:
            raise TableError(
                f"{self._path.name} has no column `person` with numbers from 0.",
                case="no-column-of-persons",
            )
        persons = pq.read_table(self._path, columns=["person"])["person"].combine_chunks()
        if persons.null_count or not pa.types.is_integer(persons.type):
            raise TableError("`person` must be an integer in every row.", case="missing-persons")
        numbers = np.asarray(persons.cast(pa.int64()))
        self._order = np.argsort(numbers, kind="stable")
        ordered = numbers[self._order]
        if len(ordered) and (ordered[0] < 0 or np.any(np.diff(ordered) == 0)):
            raise TableError(
                "`person` must be at least 0, and different in every row.", case="malformed-persons"
            )
        return ordered

    def _column(self, name: str) -> pa.Array:
        """Return a column in the order of `persons`."""
        column = pq.read_table(self._path, columns=[name])[name].combine_chunks()
        return column.take(pa.array(self._order))

    def _check(self, attribute: str, values: Mapping[str, int]) -> None:
        if attribute not in self._names:
            raise TableError(
                f"Samples by {attribute} are offered, but the table has no such column.",
                case="no-column-of-the-offer",
            )
        declared = self._column(attribute)
        for value, figure in values.items():
            if figure > np.count_nonzero(_equal(declared, value)):
                raise TableError(
                    f"More people are offered with {attribute} {value} than the table has.",
                    case="too-large-an-offer",
                )


def _equal(column: pa.Array, value: str) -> NDArray[np.bool_]:
    same = pc.equal(column.cast(pa.string()), value)
    return np.asarray(pc.fill_null(same, False), np.bool_)


def _canonical(names: pa.Array) -> pa.Array:
    """Return names as the codebook normalises them: NFKC, stripped, without a leading @, case
    folded.
    """
    plain = pc.utf8_trim_whitespace(pc.utf8_normalize(names.cast(pa.string()), "NFKC"))
    bare = pc.replace_substring_regex(plain, "^@", "")
    folded = pc.utf8_lower(bare)
    special = pc.fill_null(pc.invert(pc.string_is_ascii(bare)), False)
    if not pc.any(special).as_py():
        return folded
    # Arrow has no case folding; few names need it.
    rest = [name.casefold() for name in bare.filter(special).to_pylist()]
    return pc.replace_with_mask(folded, special, pa.array(rest, folded.type))


def _type_of(kind: str) -> pa.DataType:
    return pa.string() if kind == "username" else pa.binary(32)
