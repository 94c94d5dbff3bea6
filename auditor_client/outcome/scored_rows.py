"""Rows of a researcher's own log, with and without an outcome, and their regression.

Rows are sorted by query, with the highest score first: a position in a list is a position here.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor_client.audiences.tables import open_columns
from auditor_client.errors import InputError
from auditor_client.outcome.bin_sums import NAMES, FrameMoments, bin_sums
from auditor_client.outcome.effects import LEAST_ROWS
from auditor_client.outcome.log_reader import codes, from_frame, group_codes, numbers
from auditor_client.outcome.regression import fit
from auditor_client.stats.noise_distributions import Floats
from auditor_client.stats.outcome_moments import OutcomeMoments

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class RowNames:
    """Names of the columns by their meaning."""

    score: str
    outcome: str
    group: str
    query: str
    person: str | None = None


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with and without an outcome (NaN). Without persons, each row counts as its own
    person.
    """

    scores: Floats
    outcomes: Floats
    groups: Codes
    query: Codes
    names: list[str]
    person: Codes | None = None

    @classmethod
    def of(cls, frame: Any, columns: RowNames) -> "ScoredRows":
        person = columns.person
        wanted = [columns.score, columns.outcome, columns.group, columns.query]
        table = open_columns(frame, [*wanted, *([person] if person else [])])
        if not len(table):
            raise InputError("There are no rows.")
        names, groups = group_codes(table, columns.group)
        scores, query = numbers(table, columns.score), codes(table[columns.query])
        outcomes = numbers(table, columns.outcome, missing=True)
        order = np.lexsort((-scores, query))
        whose = codes(table[person])[order] if person else None
        return cls(scores[order], outcomes[order], groups[order], query[order], names, whose)

    @property
    def queries(self) -> int:
        return int(self.query[-1]) + 1

    @property
    def seen(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.outcomes)

    def by_group(self, weights: Floats) -> Floats:
        return np.asarray(np.bincount(self.groups, weights, len(self.names)), np.float64)

    def by_query(self, weights: Floats) -> Floats:
        return np.asarray(np.bincount(self.query, weights, self.queries), np.float64)

    def ahead(self, values: Floats, copies: Floats) -> Floats:
        """Count the copies of rows of the same query that come first: by value, then by score."""
        order = np.lexsort((-values, self.query))
        running = np.cumsum(copies[order]) - copies[order]
        found = np.empty(len(values))
        found[order] = running - running[self._first]
        return found

    @cached_property
    def _first(self) -> Codes:
        """Return the index of the first row of each row's query."""
        return np.searchsorted(self.query, self.query, side="left")


@dataclass(frozen=True, eq=False)
class Corrected:
    """Rows in bins, whose regression predicts their outcome, the corrected score."""

    rows: ScoredRows
    edges: Floats
    outcome_range: tuple[float, float]
    binary: bool

    @classmethod
    def of(cls, rows: ScoredRows, frame: Any, columns: RowNames, edges: Floats) -> "Corrected":
        moments = from_frame(
            frame,
            score=columns.score,
            outcome=columns.outcome,
            group=columns.group,
            bins=edges.tolist(),
        )
        if silent := [name for name in rows.names if name not in moments.groups]:
            raise InputError(
                f"No row of {', '.join(silent)} has an outcome. Leave the group out.",
                case="group-without-outcome",
            )
        return cls(rows, edges, moments.outcome_range, moments.binary)

    def predicted(self, weights: Floats) -> Floats:
        """Return Ŷ of every row by the regression of its bin, or of the nearest bin outside all
        bins.

        The regression uses the weights of rows.
        """
        bin_index, u = self._bins_and_positions
        moments = self._moments(weights)
        fitted = [regression_of(moments, k, self.binary) for k in range(len(self.edges) - 1)]
        level, slope = np.array([one for one, _ in fitted]), np.array([one for _, one in fitted])
        return np.asarray(
            moments.outcome(level[bin_index, self.rows.groups] + slope[bin_index] * u)
        )

    def slope(self, number: int, weights: Floats) -> float:
        """Return half of the rise over the bin of the outcome that the bin's regression
        predicts.
        """
        return regression_of(self._moments(weights), number, self.binary)[1]

    @cached_property
    def _bins_and_positions(self) -> tuple[Codes, Floats]:
        """The bin of each row, and its position in the bin."""
        edges = self.edges
        bin_index = np.searchsorted(edges, self.rows.scores, side="right") - 1
        bin_index = np.clip(bin_index, 0, len(edges) - 2)
        low, high = edges[bin_index], edges[bin_index + 1]
        return bin_index, (2 * self.rows.scores - low - high) / (high - low)

    @cached_property
    def _products(self) -> tuple[NDArray[np.bool_], Codes, list[Floats]]:
        """The rows of a regression, their cells, and products of their u and v."""
        rows, (low, high) = self.rows, self.outcome_range
        inside = rows.seen & (rows.scores >= self.edges[0]) & (rows.scores <= self.edges[-1])
        bin_index, u = (one[inside] for one in self._bins_and_positions)
        v = (2 * rows.outcomes[inside] - low - high) / (high - low)
        products = [np.asarray(u ** name.count("u") * v ** name.count("v")) for name in NAMES]
        return inside, rows.groups[inside] * (len(self.edges) - 1) + bin_index, products

    def _moments(self, weights: Floats) -> OutcomeMoments:
        inside, cells, products = self._products
        shape = len(self.rows.names), len(self.edges) - 1
        there, size = weights[inside], shape[0] * shape[1]
        sums = np.stack([np.bincount(cells, there * one, size) for one in products], axis=1)
        return FrameMoments(
            tuple(self.rows.names),
            tuple(self.edges.tolist()),
            self.outcome_range,
            sums.astype(np.float64).reshape(*shape, len(NAMES)),
            binary=self.binary,
        )


def regression_of(moments: OutcomeMoments, number: int, binary: bool) -> tuple[Floats, float]:
    """Return the level of each group, at the middle of a bin, and the slope of the scaled outcome
    in the score.

    A group with almost nobody gets no effect.
    """
    sums = bin_sums(moments, number, binary)
    able = [g for g in range(len(moments.groups)) if sums.rows[g] >= LEAST_ROWS]
    fitted = fit(sums.only(able), "linear") if able else None
    if fitted is None:
        low, high = moments.edges[number], moments.edges[number + 1]
        raise InputError(
            f"Scores from {low:g} to {high:g} have too few outcomes to correct them: ask for fewer"
            " bins.",
            case="few-outcomes-in-a-bin",
        )
    mean = sum(fitted.own(i)[0] * sums.rows[g] for i, g in enumerate(able)) / sums.rows[able].sum()
    level = np.full(len(moments.groups), mean)
    level[able] = [fitted.own(i)[0] for i in range(len(able))]
    return level, float(fitted.own(0)[1]) if fitted.degree else 0.0
