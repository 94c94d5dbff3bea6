"""Bootstrap on plain data, for simulations: its user sees all data.

It is not part of the package. Exact sums of resamples with known draws are a linear system: from as
many resamples as units, a recipient can solve for the contribution of each unit.

Units (queries, or people) are drawn with replacement; a resample is the number of draws of each,
and its sums are those counts times each unit's contribution. Everything is an integer and exact:
contributions are split into halves that a float can hold, so BLAS can compute them.

[OHB26] §3.5 (B = 1,000, percentiles).  [Efr79] Efron, Annals of Statistics 7 (1979).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats, Integers
from auditor_client.two_party.auc import area
from privacy.metric_values import MemberRows

REPETITIONS = 1000
_HALF = 24
_LARGEST = 2**61
_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Resampled:
    """Estimates with their errors from resamples, by tuple of groups and, if any, cell."""

    value: Floats
    draws: Floats
    confidence: float

    @property
    def se(self) -> Floats:
        return np.asarray(self.draws.std(axis=0, ddof=1))

    @property
    def low(self) -> Floats:
        return np.asarray(np.quantile(self.draws, (1 - self.confidence) / 2, axis=0))

    @property
    def high(self) -> Floats:
        return np.asarray(np.quantile(self.draws, (1 + self.confidence) / 2, axis=0))

    def apply(self, function: Callable[[Floats], Any]) -> "Resampled":
        """Return any function of the estimates, such as a difference or a total impact, with its
        error.
        """
        draws = np.array([function(draw) for draw in self.draws])
        return Resampled(np.asarray(function(self.value)), draws, self.confidence)

    def surely_negative(self) -> NDArray[np.bool_]:
        """Return which estimates are below zero, all at once (Bonferroni), by their standard
        errors.

        In the listwise outcome test, this means that the lower-ranked person was worth more.
        """
        level = (1 - self.confidence) / self.value.size
        return np.asarray(self.value + quantile(level) * self.se < 0)


def contributions(
    rows: MemberRows, weights: Integers, tuples: Sequence[tuple[int, ...]], cells: int
) -> tuple[Integers, int]:
    """Return each unit's contribution, flat over tuples × cells × columns, and the number of
    units.
    """
    if not len(rows.unit):
        raise InputError("There are no rows to resample.", case="no-rows")
    arity = rows.members.shape[1]
    largest = int(np.abs(weights).max()) ** arity * int(np.abs(rows.values).max())
    if largest * len(rows.unit) >= _LARGEST:
        raise InputError(
            "These sums may not fit 64 bits: take smaller scales.", case="sums-too-large"
        )
    units = int(rows.unit.max()) + 1
    columns = rows.values.shape[1]
    found = np.zeros((units * len(tuples) * cells, columns), np.int64)
    for number, groups in enumerate(tuples):
        product = np.prod(weights[rows.members, list(groups)], axis=1)
        place = (rows.unit * len(tuples) + number) * cells + rows.cell
        np.add.at(found, place, product[:, np.newaxis] * rows.values)
    return found.reshape(units, -1), units


def sums_of(
    rows: MemberRows,
    weights: Integers,
    tuples: Sequence[tuple[int, ...]],
    cells: int,
    repetitions: int = REPETITIONS,
    seed: int | None = None,
) -> Integers:
    """Return sums of the sample and of its resamples: (1 + repetitions) × tuples × cells ×
    columns.
    """
    flat, units = contributions(rows, weights, tuples, cells)
    generator = np.random.default_rng(seed)
    found = [flat.sum(axis=0, keepdims=True)]
    for start in range(0, repetitions, _AT_ONCE):
        many = min(_AT_ONCE, repetitions - start)
        counts = generator.multinomial(units, np.full(units, 1 / units), many)
        found.append(_product(counts, flat))
    shape = (1 + repetitions, len(tuples), cells, rows.values.shape[1])
    return np.concatenate(found).reshape(shape)


def read(sums: Any, confidence: float = 0.95) -> Resampled:
    """Return ratios of the first column to the last, from the sample (first) and its resamples."""
    table = _checked(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _spread(table[..., 0] / table[..., -1], confidence)


def read_areas(sums: Any, confidence: float = 0.95) -> Resampled:
    """Return areas under ROC curves, one per tuple: cells are rising scores, columns both
    outcomes.
    """
    table = _checked(sums)
    areas = [[area(each[:, 0], each[:, 1]) for each in resample] for resample in table]
    return _spread(np.array(areas), confidence)


def _checked(sums: Any) -> Floats:
    table = np.asarray(sums, object)
    if table.ndim != 4 or len(table) < 3:
        raise InputError(
            "Sums of resamples have the shape (1 + B) × tuples × cells × columns.",
            case="shape-of-the-sums",
        )
    return table.astype(np.float64)


def _spread(found: Floats, confidence: float) -> Resampled:
    return Resampled(found[0], found[1:], confidence)


def _product(counts: Integers, flat: Integers) -> Integers:
    """Return counts @ flat exactly, if no entry of flat times Σ counts exceeds 2^62."""
    # The upper halves add up to at most 2^38, and the lower ones to 2^53 for up to 2^29 units.
    upper, lower = flat >> _HALF, flat & ((1 << _HALF) - 1)
    parts = [(counts.astype(np.float64) @ half.astype(np.float64)) for half in (upper, lower)]
    return (parts[0].astype(np.int64) << _HALF) + parts[1].astype(np.int64)
