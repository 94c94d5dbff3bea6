"""BISG: the probability of each group, given a surname and an area (eq. 2 of the paper).

    P(r | s, z) = P(r | s) P(z | r) / Σ_r P(r | s) P(z | r)     if s and z are independent given r

Every person gets an estimate. A surname that is not in the table is rare, and the census has a row
for rare surnames. A missing surname has no information, so P(r) is used. A double name of which
only the parts are known has their mean. Without an area, or if the two tables contradict each other
(no group with this surname lives in the area), the surname alone is used.

[Ell09] Elliott et al., Health Services and Outcomes Research Methodology 9 (2009).
[OHB26] Osoba, He et al., Productionized fairness measurement under privacy constraints, §4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from auditor_client.demographics.calibration import Calibration, calibration
from auditor_client.demographics.census_tables import Tables, census_2010
from auditor_client.demographics.probability_columns import Floats, Probabilities
from auditor_client.demographics.surnames import spellings
from auditor_client.errors import InputError

# Sources of an estimate, in the order of the codes.
SOURCES = (
    "surname and area",
    "parts of the surname and area",
    "rare surname and area",
    "area alone",
    "surname alone",
    "parts of the surname alone",
    "rare surname alone",
    "nothing",
)
_ALONE = 4


def bisg(
    surnames: Any,
    zctas: Any,
    tables: Tables | None = None,
    *,
    known: Sequence[str | None] | None = None,
) -> Probabilities:
    """Return probabilities of the six categories, with one row per person and named columns.

    `known` is the group of each person whose group is known, None for others. If the probabilities
    are worse for them than the groups' shares alone, a `WorseThanBaseRatesWarning` states both
    figures.
    """
    found = _answered(surnames, zctas, tables or census_2010())[0]
    if known is not None:
        checked_by(found, known)
    return found


def checked_by(found: Probabilities, known: Sequence[str | None]) -> Calibration:
    """Check probabilities against the people whose group is known; None is unknown."""
    if len(known) != len(found):
        raise InputError(
            f"There are {len(found)} people and {len(known)} known groups: give None for "
            "each unknown group.",
            case="label-per-vector",
        )
    some = [row for row, label in enumerate(known) if label is not None]
    labels = [label for label in known if label is not None]
    return calibration(found[np.asarray(some, np.intp)], labels)


def sources(surnames: Any, zctas: Any, tables: Tables | None = None) -> dict[str, int]:
    """Count the answers by their source. Read the counts before you trust an average."""
    codes = _answered(surnames, zctas, tables or census_2010())[1]
    counts = np.bincount(codes, minlength=len(SOURCES))
    return dict(zip(SOURCES, counts.tolist(), strict=True))


def _answered(surnames: Any, zctas: Any, tables: Tables) -> tuple[Probabilities, NDArray[np.intp]]:
    names, areas = _encoded(surnames, "surnames"), _encoded(zctas, "zctas")
    if len(names) != len(areas):
        raise InputError(
            f"There are {len(names)} surnames and {len(areas)} areas: give equal numbers of both.",
            case="area-per-surname",
        )
    by_name, kinds = _of_names(names.dictionary, tables)
    by_area, known = _of_areas(areas.dictionary, tables)
    name, area = _lookup_rows(names), _lookup_rows(areas)
    # u(r) = P(r | s) P(z | r)   [Ell09; OHB26, eq. 2]
    products = by_name[name] * by_area[area]
    total = products.sum(axis=1)
    alone = ~known[area] | ~(total > 0)
    products[alone] = by_name[name[alone]]
    total[alone] = products[alone].sum(axis=1)
    products /= total[:, np.newaxis]
    return Probabilities(products, tables.columns), kinds[name] + np.where(alone, _ALONE, 0)


def _encoded(values: Any, what: str) -> pa.DictionaryArray:
    """Return each different value once. None and not-a-number are missing; the text "nan" is a
    name.
    """
    try:
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else _listed(values)
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    except (pa.ArrowException, TypeError) as error:
        raise InputError(
            f"Give {what} as a list, an array or a column: {error}", case="not-a-list"
        ) from error


def _listed(values: Any) -> pa.Array:
    if isinstance(values, str):
        raise TypeError("one string is not a list")
    if not isinstance(values, np.ndarray | Sequence):
        values = values.to_numpy() if hasattr(values, "to_numpy") else list(values)
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowInvalid:  # text and numbers in one column
        return pa.array([_text(value) for value in values], pa.string())


def _text(value: object) -> str | None:
    if value is None or value != value:
        return None
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def _lookup_rows(encoded: pa.DictionaryArray) -> NDArray[np.intp]:
    """Return row numbers for a lookup; the last row is for missing values."""
    missing = len(encoded.dictionary)
    return np.asarray(encoded.indices.fill_null(missing).to_numpy(), np.intp)


def _of_names(names: pa.Array, tables: Tables) -> tuple[Floats, NDArray[np.intp]]:
    """Return P(r | s) of each different name, with the missing name last, and the sources."""
    spelt = [spellings(str(name)) for name in names.to_pylist()]
    found = _found([whole for whole, _ in spelt], tables.surnames)
    rows = np.where((found >= 0)[:, np.newaxis], tables.by_surname[found], tables.rare)
    kinds = np.where(found >= 0, 0, 2)
    empty = [number for number, (whole, _) in enumerate(spelt) if not whole]
    rows[empty], kinds[empty] = tables.overall, 3
    double = [number for number, (_, parts) in enumerate(spelt) if parts and found[number] < 0]
    if double:
        means, some = _means([spelt[number][1] for number in double], tables)
        better = np.asarray(double)[some]
        rows[better], kinds[better] = means[some], 1
    return np.vstack([rows, tables.overall]), np.append(kinds, 3)


def _means(parts: list[tuple[str, ...]], tables: Tables) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the mean of P(r | part) over the known parts, and whether there are any."""
    owner = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    found = _found([part for each in parts for part in each], tables.surnames)
    owner, found = owner[found >= 0], found[found >= 0]
    count = np.bincount(owner, minlength=len(parts))
    sums = [
        np.bincount(owner, column[found], minlength=len(parts)) for column in tables.by_surname.T
    ]
    return np.column_stack(sums) / np.maximum(count, 1)[:, np.newaxis], count > 0


def _of_areas(areas: pa.Array, tables: Tables) -> tuple[Floats, NDArray[np.bool_]]:
    found = _found([_five_digits(area) for area in areas.to_pylist()], tables.areas)
    known = np.append(found >= 0, False)
    return np.vstack([tables.by_area[found], tables.by_area[:1]]), known


def _five_digits(area: object) -> str:
    """Return a ZIP code as text; 2138, 2138.0, 02138-0001 and 021380001 are all 02138."""
    text = (_text(area) or "").strip()
    digits = text.partition("-")[0]
    if not digits.isdigit() or len(digits) > 9:
        return text.upper()
    return digits.zfill(5) if len(digits) <= 5 else digits.zfill(9)[:5]


def _found(keys: list[str], among: pa.Array) -> NDArray[np.intp]:
    """Return the index of each key, -1 where it is missing."""
    indices = pc.index_in(pa.array(keys, pa.string()), value_set=among)
    return np.asarray(indices.fill_null(-1).to_numpy(zero_copy_only=False), np.intp)
