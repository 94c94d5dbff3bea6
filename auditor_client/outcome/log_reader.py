"""Sums of an outcome test, read from a researcher's own rows (pandas, Polars or Arrow)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from auditor_client.audiences.tables import open_columns
from auditor_client.errors import InputError
from auditor_client.outcome.bin_sums import (
    HIGHER,
    NAMES,
    PERSONAL,
    FrameMoments,
    PersonSums,
    SharedQueries,
)
from auditor_client.stats.noise_distributions import Floats

Bins = int | Sequence[float]
Codes = NDArray[np.int64]
_MOST_BINS = 1_000
_MOST_COLUMNS = 1_500
_PERSONS_AT_ONCE = 8_192


def from_frame(
    frame: Any,
    *,
    score: str,
    outcome: str,
    group: str,
    bins: Bins = 10,
    person: str | None = None,
    threshold: float | None = None,
    outcome_range: tuple[float, float] | None = None,
    query: str | None = None,
) -> FrameMoments:
    """Return the exact sums of a log: one row per opportunity, with its score, outcome and group.

    `bins` is a list of edges, or a number of quantile bins of all scores, or of scores from
    `threshold` on (ten are the paper's deciles). Rows with a score outside the edges, or without an
    outcome, are left out. With `person`, rows of one person may depend on each other; without it,
    all rows are treated as independent. An outcome outside `outcome_range`, if given, raises
    InputError. `query` is the column of jobs or queries: rows with the same query still count as
    independent, and the verdict warns about this.
    """
    optional = [name for name in (person, query) if name is not None]
    table = open_columns(frame, [score, outcome, group, *optional])
    table = table.filter(pc.is_valid(table[outcome]))
    if not len(table):
        raise InputError(
            f"No row has a value in {outcome!r}, so no outcome was observed.", case="no-outcomes"
        )
    scores, outcomes = numbers(table, score), numbers(table, outcome)
    names, groups = group_codes(table, group)
    edges = edges_of(scores, bins, threshold)
    low, high = _range(outcomes, outcome, outcome_range)
    inside = (scores >= edges[0]) & (scores <= edges[-1])
    v = (2 * outcomes - low - high) / (high - low)
    persons = codes(table[person])[inside] if person else None
    shape = len(names), len(edges) - 1
    rows = _Rows(*_locate_in_bins(scores[inside], edges), v[inside], groups[inside], shape)
    rows.check(names)
    personal = rows.by_person(persons) if persons is not None else None
    return FrameMoments(
        tuple(names),
        tuple(edges.tolist()),
        (low, high),
        rows.sums(NAMES),
        rows_per_person=1 if persons is None else int(np.bincount(persons).max()),
        binary=bool(np.isin(v, (-1.0, 1.0)).all()),
        higher=rows.sums(HIGHER),
        personal=personal,
        left_out=int((~inside).sum()),
        shared=None if query is None else _shared(codes(table[query])[inside], persons),
    )


def _shared(queries: Codes, persons: Codes | None) -> SharedQueries:
    """Count the rows whose query also has rows of other people."""
    rows = np.bincount(queries)
    whose = np.arange(len(queries)) if persons is None else persons
    pairs = np.unique(np.stack([queries, whose]), axis=1)
    several = np.bincount(pairs[0], minlength=len(rows)) > 1
    found = rows[several]
    return SharedQueries(int(found.sum()), len(found), int(found.max(initial=0)))


def sums_from_cells(cells: Mapping[str, Sequence[Any]], edges: Sequence[float]) -> FrameMoments:
    """Return moments from exact sums over raw scores: by group, for each bin 1, Y, s, s², sY, Y² in
    this order.

    A cell may also be a mapping with n, y, s, ss, sy and yy. Outcomes lie in [0, 1].
    """
    try:
        raw = np.array([list(map(_cell, bins)) for bins in cells.values()], np.float64)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            "Give the sums of 1, Y, s, s², sY and Y² for each group and each bin."
        ) from error
    ends = np.asarray(edges, np.float64)
    if raw.ndim != 3 or raw.shape[1:] != (len(ends) - 1, len(NAMES)):
        raise InputError(f"Give six sums in each of {len(ends) - 1} bins for every group.")
    centre, half = (ends[:-1] + ends[1:]) / 2, np.diff(ends) / 2
    n, y, s, ss, sy, yy = np.moveaxis(raw, 2, 0)
    # u = (s - centre)/half and v = 2Y - 1, multiplied out
    u, uu = (s - centre * n) / half, (ss - 2 * centre * s + centre**2 * n) / half**2
    uv = (2 * (sy - centre * y) - (s - centre * n)) / half
    sums = np.stack([n, 2 * y - n, u, uu, uv, 4 * yy - 4 * y + n], axis=2)
    return FrameMoments(tuple(map(str, cells)), tuple(ends.tolist()), (0.0, 1.0), sums)


def _cell(values: Any) -> list[float]:
    if isinstance(values, Mapping):
        return [float(values[name]) for name in ("n", "y", "s", "ss", "sy", "yy")]
    return [float(value) for value in values]


def numbers(table: pa.Table, column: str, *, missing: bool = False) -> Floats:
    """Return a column of finite numbers; NaN for missing ones, if `missing` allows them."""
    try:
        found = table[column].cast(pa.float64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"Column {column!r} must hold numbers: {error}", case="not-numbers"
        ) from error
    wrong = np.isinf(found) if missing else ~np.isfinite(found)
    if wrong.any():
        raise InputError(
            f"{wrong.sum()} rows have no finite number in {column!r}. Fill or remove these rows.",
            case="not-finite",
        )
    return np.asarray(found, np.float64)


def group_codes(table: pa.Table, column: str) -> tuple[list[str], Codes]:
    """Return the sorted names of groups, and the number of each row's group."""
    if table[column].null_count:
        raise InputError(
            f"{table[column].null_count} rows have no value in {column!r}. Fill or remove "
            "these rows.",
            case="missing-values",
        )
    words = table[column].cast(pa.string())
    names = sorted(pc.unique(words).to_pylist())
    if len(names) < 2:
        raise InputError(
            f"Column {column!r} holds one group only ({', '.join(names)}): an outcome test compares"
            " at least two.",
            case="one-group",
        )
    return names, np.asarray(pc.index_in(words, pa.array(names)).to_numpy(), np.int64)


def codes(column: pa.ChunkedArray) -> Codes:
    """Return equal numbers, from 0, for equal values."""
    if column.null_count:
        raise InputError(
            f"{column.null_count} rows do not name their person. Fill or remove these rows."
        )
    return np.asarray(column.combine_chunks().dictionary_encode().indices.to_numpy(), np.int64)


def edges_of(scores: Floats, bins: Bins, threshold: float | None = None) -> Floats:
    """Return the given edges, or quantiles; a threshold is the first edge."""
    if isinstance(bins, int):
        if not 1 <= bins <= _MOST_BINS:
            raise InputError(
                f"The number of bins must be from 1 to {_MOST_BINS}, not {bins}.",
                case="number-of-bins",
            )
        passed = scores if threshold is None else scores[scores >= threshold]
        if not len(passed):
            raise InputError(
                f"No row with an outcome has a score of {threshold:g} or more.",
                case="no-row-above-the-threshold",
            )
        found = np.quantile(passed, np.linspace(0, 1, bins + 1))
        if threshold is not None:
            found[0] = threshold
        found = np.unique(found)
        # If all scores are equal, use one bin of some width around the score.
        return found if len(found) > 1 else found[0] + np.array([-0.5, 0.5])
    edges = np.asarray(bins, np.float64)
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise InputError(
            "Edges must increase, and there must be at least two.", case="not-increasing"
        )
    return edges


def _range(
    outcomes: Floats, column: str, wanted: tuple[float, float] | None
) -> tuple[float, float]:
    least, most = float(outcomes.min()), float(outcomes.max())
    if wanted is not None:
        wrong = int(((outcomes < wanted[0]) | (outcomes > wanted[1])).sum())
        if wrong:
            raise InputError(
                f"{wrong} rows have a value in {column!r} outside of {wanted[0]:g} to "
                f"{wanted[1]:g} (they range from {least:g} to {most:g}). Correct them, or "
                "give the range of the outcomes.",
                case="outcome-out-of-range",
            )
        return wanted
    if least >= 0 and most <= 1:
        return 0.0, 1.0
    if least == most:
        raise InputError(
            f"Every row has the outcome {least:g}, so there is nothing to compare.",
            case="constant-outcome",
        )
    return least, most


def _locate_in_bins(scores: Floats, edges: Floats) -> tuple[Codes, Floats]:
    """Return the bin of each score and its position in the bin; the last bin includes its upper
    end.
    """
    number = np.searchsorted(edges[1:-1], scores, side="right")
    low, high = edges[number], edges[number + 1]
    return number, np.asarray((2 * scores - low - high) / (high - low))


@dataclass(frozen=True, eq=False)
class _Rows:
    bins: Codes
    u: Floats
    v: Floats
    groups: Codes
    shape: tuple[int, int]

    def check(self, names: Sequence[str]) -> None:
        empty = np.bincount(self.groups, minlength=len(names)) == 0
        if empty.any():
            lost = ", ".join(name for name, none in zip(names, empty, strict=True) if none)
            raise InputError(
                f"No row of {lost} has a score within the bins. Choose other edges.",
                case="empty-group",
            )

    def sums(self, names: Sequence[str]) -> Floats:
        """Return each cell's sum of the product of u and v that each letter of the name gives."""
        size = self.shape[0] * self.shape[1]
        found = [np.bincount(self._cells, self._product(name), size) for name in names]
        return np.stack(found, axis=1, dtype=np.float64).reshape(*self.shape, len(names))

    def by_person(self, persons: Codes) -> PersonSums:
        """Return the products of the sums of each person's rows."""
        groups, bins = self.shape
        cells, width = groups * bins, groups * len(PERSONAL)
        if bins * width > _MOST_COLUMNS:
            raise InputError(
                f"With persons, the largest number of bins is {_MOST_COLUMNS // width}.",
                case="number-of-bins-with-persons",
            )
        keys, where = np.unique(
            persons * cells + self.bins * groups + self.groups, return_inverse=True
        )
        values = np.stack([np.bincount(where, self._product(name)) for name in PERSONAL], axis=1)
        person, cell = np.divmod(keys, cells)
        products = np.zeros((bins * width, bins * width))
        for start in range(0, int(persons.max()) + 1, _PERSONS_AT_ONCE):
            first, last = np.searchsorted(person, (start, start + _PERSONS_AT_ONCE))
            table = np.zeros((_PERSONS_AT_ONCE, cells, len(PERSONAL)))
            table[person[first:last] - start, cell[first:last]] = values[first:last]
            flat = table.reshape(_PERSONS_AT_ONCE, bins * width)
            products += flat.T @ flat
        anywhere = np.unique(person * bins + cell // groups) % bins
        return PersonSums(
            products.reshape(bins, width, bins, width),
            np.bincount(cell, minlength=cells).reshape(bins, groups).T,
            np.bincount(anywhere, minlength=bins),
        )

    @property
    def _cells(self) -> Codes:
        return self.groups * self.shape[1] + self.bins

    def _product(self, name: str) -> Floats:
        return np.asarray(self.u ** name.count("u") * self.v ** name.count("v"))
