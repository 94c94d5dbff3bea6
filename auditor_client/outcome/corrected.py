"""The size of a bias: who would get the opportunities if scores were corrected for it.

The thought experiments of the paper, on a researcher's own rows: each job gives out as many
notifications as before (§4.1), each list shows as many candidates as before (§4.2), but to those
with the highest *corrected* score, the outcome that the regression of their bin predicts.

[YS22] Yu, Saint-Jacques, §4.1 and §4.2. The text of §4.2 says that women are under-scored and that
the correction moves men up; by its own formulas the under-scored move up, and so they do here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.frames import open_columns
from auditor_client.laws import Floats
from auditor_client.moments import Moments
from auditor_client.outcome.columns import bin_sums
from auditor_client.outcome.effects import LEAST_ROWS
from auditor_client.outcome.reading import Bins, codes, edges_of, from_frame, group_codes, numbers
from auditor_client.outcome.regression import fit

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Change:
    """Of one group, before and after scores are corrected."""

    before: float
    after: float

    @property
    def percent(self) -> float:
        return 100 * (self.after - self.before) / self.before if self.before else np.nan

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Notified:
    """Notifications by group (N%Δ is `.percent`), and the outcomes of all of them (Y%Δ)."""

    groups: Mapping[str, Change]
    outcome: Change


def notifications(
    frame: Any,
    *,
    score: str,
    outcome: str,
    group: str,
    query: str,
    threshold: float,
    bins: Bins = 10,
) -> Notified:
    """What correction does to notifications, sent where the score reaches the threshold [§4.1].

    A row is a candidate scored for a job (`query`), with an outcome where notified. Below the
    threshold the regression of the bin right above it is used, as in the paper.
    """
    rows = _Scored.of(frame, score, outcome, group, query)
    sent = rows.scores >= threshold
    _refuse_silence(rows, sent, threshold)
    edges = edges_of(rows.scores, bins, threshold)
    predicted = rows.predicted(frame, (score, outcome, group), edges)
    chosen = _top(
        rows.query, predicted, rows.scores, np.bincount(rows.query[sent], minlength=rows.queries)
    )
    groups = {
        name: Change(
            float((sent & (rows.groups == g)).sum()), float((chosen & (rows.groups == g)).sum())
        )
        for g, name in enumerate(rows.names)
    }
    return Notified(
        groups, Change(float(rows.outcomes[sent].sum()), float(predicted[chosen].sum()))
    )


def ranks(
    frame: Any, *, score: str, outcome: str, group: str, query: str, bins: Bins = 10
) -> dict[str, Change]:
    """What correction does to the average rank of each group, 1 being the top [§4.2].

    A row is a candidate in a list (`query`) ranked by score; those with an outcome were seen. The
    top of each corrected list counts, as many as were seen.
    """
    rows = _Scored.of(frame, score, outcome, group, query)
    seen = ~np.isnan(rows.outcomes)
    edges = _edges_of_seen(rows.scores, rows.scores[seen], bins)
    predicted = rows.predicted(frame, (score, outcome, group), edges)
    depth = np.bincount(rows.query[seen], minlength=rows.queries)
    before = _ranks(rows.query, rows.scores, rows.scores)
    after = _ranks(rows.query, predicted, rows.scores)
    top = after <= depth[rows.query]
    return {
        name: Change(
            float(before[seen & (rows.groups == g)].mean()),
            float(after[top & (rows.groups == g)].mean()),
        )
        for g, name in enumerate(rows.names)
    }


@dataclass(frozen=True, eq=False)
class _Scored:
    """Rows with and without an outcome (NaN)."""

    scores: Floats
    outcomes: Floats
    groups: Codes
    query: Codes
    names: list[str]

    @classmethod
    def of(cls, frame: Any, score: str, outcome: str, group: str, query: str) -> "_Scored":
        table = open_columns(frame, [score, outcome, group, query])
        names, groups = group_codes(table, group)
        outcomes = numbers(table, outcome, missing=True)
        return cls(numbers(table, score), outcomes, groups, codes(table[query]), names)

    @property
    def queries(self) -> int:
        return int(self.query.max()) + 1

    def predicted(self, frame: Any, columns: tuple[str, str, str], edges: Floats) -> Floats:
        """Ŷ of every row by the regression of its bin, the lowest one below all bins."""
        score, outcome, group = columns
        moments = from_frame(frame, score=score, outcome=outcome, group=group, bins=edges.tolist())
        if silent := [name for name in self.names if name not in moments.groups]:
            raise InputError(f"No row of {', '.join(silent)} has an outcome: leave the group out.")
        place = np.clip(np.searchsorted(edges, self.scores, side="right") - 1, 0, len(edges) - 2)
        found = np.empty(len(self.scores))
        for number in range(len(edges) - 1):
            low, high = edges[number : number + 2]
            here = place == number
            u = (2 * self.scores[here] - low - high) / (high - low)
            found[here] = _fitted(moments, number, self.groups[here], u)
        return found


def _fitted(moments: Any, number: int, groups: Codes, u: Floats) -> Floats:
    """The outcome that the bin's regression predicts; a group of next to nobody gets no effect."""
    level, slope = regression_of(moments, number, moments.binary)
    return np.asarray(moments.outcome(level[groups] + slope * u))


def regression_of(moments: Moments, number: int, binary: bool) -> tuple[Floats, float]:
    """Level by group, at the middle of a bin, and slope of the scaled outcome in the score."""
    sums = bin_sums(moments, number, binary)
    able = [g for g in range(len(moments.groups)) if sums.rows[g] >= LEAST_ROWS]
    fitted = fit(sums.only(able), "linear") if able else None
    if fitted is None:
        raise InputError(
            f"Bin {number} has too few outcomes to correct its scores: ask for fewer bins."
        )
    mean = sum(fitted.own(i)[0] * sums.rows[g] for i, g in enumerate(able)) / sums.rows[able].sum()
    level = np.full(len(moments.groups), mean)
    level[able] = [fitted.own(i)[0] for i in range(len(able))]
    return level, float(fitted.own(0)[1]) if fitted.degree else 0.0


def _edges_of_seen(scores: Floats, seen: Floats, bins: Bins) -> Floats:
    """Quantiles of those seen, stretched to hold everybody."""
    found = edges_of(seen, bins)
    if isinstance(bins, int):
        found[[0, -1]] = min(found[0], scores.min()), max(found[-1], scores.max())
    return found


def _refuse_silence(rows: _Scored, sent: NDArray[np.bool_], threshold: float) -> None:
    silent = int(np.isnan(rows.outcomes[sent]).sum())
    if not sent.any() or silent:
        raise InputError(
            f"{silent} of {sent.sum()} rows with a score of {threshold:g} or more have no outcome:"
            " give the threshold from which notifications were sent."
        )


def _ranks(query: Codes, values: Floats, ties: Floats) -> Codes:
    """The rank of each row in its list, 1 for the largest value; `ties` decide between equals."""
    order = np.lexsort((-ties, -values, query))
    starts = np.searchsorted(query[order], query[order], side="left")
    found = np.empty(len(query), np.int64)
    found[order] = np.arange(len(query)) - starts + 1
    return found


def _top(query: Codes, values: Floats, ties: Floats, counts: Codes) -> NDArray[np.bool_]:
    return np.asarray(_ranks(query, values, ties) <= counts[query])
