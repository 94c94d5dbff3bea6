"""Size of a bias: the change of opportunities if scores were corrected for it.

These are the paper's thought experiments, on a researcher's own rows. Each job sends the same
number of notifications as before (§4.1), and each list shows the same number of candidates (§4.2).
They go to those with the highest *corrected* score: the outcome that the regression of their bin
predicts.

Limits come from resampling (`resampling_limits`): each resample has its own regressions and lists.

[YS22] Yu, Saint-Jacques, §4.1 and §4.2. The text of §4.2 says that women are under-scored and that
the correction moves men up. By its own formulas the under-scored group moves up, as it does here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.outcome.log_reader import Bins, edges_of
from auditor_client.outcome.resampling_limits import (
    REPLICATES,
    Copies,
    ResamplingLimits,
    draw_resamples,
    limits_of,
)
from auditor_client.outcome.scored_rows import Corrected, RowNames, ScoredRows
from auditor_client.stats.noise_distributions import Floats


@dataclass(frozen=True)
class CorrectionEffect:
    """Values before and after the correction; `limits` of the change in percent, or of the
    difference of ranks.
    """

    before: float
    after: float
    limits: ResamplingLimits | None = None

    @property
    def percent(self) -> float:
        return 100 * (self.after - self.before) / self.before if self.before else np.nan

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Notified:
    """Notifications by group (N%Δ is `.percent`), and the outcomes of all groups (Y%Δ)."""

    groups: Mapping[str, CorrectionEffect]
    outcome: CorrectionEffect


def notifications(
    frame: Any,
    *,
    score: str,
    outcome: str,
    group: str,
    query: str,
    threshold: float,
    bins: Bins = 10,
    person: str | None = None,
    delta: float = 0.05,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> Notified:
    """Estimate how correction changes notifications, sent where scores reach the threshold [§4.1].

    A row is a candidate scored for a job (`query`), with an outcome if the candidate was notified.
    Below the threshold, the regression of the bin just above it is used, as in the paper. Limits
    hold for other jobs like these and, with `person`, for other people too. There are no limits
    with 0 `replicates`. If scores just above the threshold may not predict outcomes, the limits
    exclude nothing: -100 % and infinity.
    """
    columns = RowNames(score, outcome, group, query, person)
    rows = ScoredRows.of(frame, columns)
    sent = rows.scores >= threshold
    _refuse_silence(rows, sent, threshold)
    corrected = Corrected.of(rows, frame, columns, edges_of(rows.scores, bins, threshold))
    outcomes = np.where(sent, rows.outcomes, 0.0)

    def counted(copies: Copies) -> Floats:
        """Return the values by group, then of all outcomes, before and after."""
        predicted = corrected.predicted(copies.of_rows)
        given = copies.within * sent
        free_positions = rows.by_query(given)[rows.query] - rows.ahead(predicted, copies.within)
        taken = np.clip(free_positions, 0.0, copies.within)
        both = [copies.times * given, copies.times * taken]
        values = zip(both, (outcomes, predicted), strict=True)
        return np.array([[*rows.by_group(one), float(one @ value)] for one, value in values])

    before, after = counted(Copies.of(rows))
    found = limits_of(rows, counted, _percent, delta, replicates, seed)
    slopes = [
        corrected.slope(0, copies.of_rows) for copies in draw_resamples(rows, replicates, seed)
    ]
    if np.mean(np.array([1.0, *slopes]) <= 0) > delta / 4:
        # The data do not show whom it would reach below the threshold.
        found = [one and replace(one, low=-100.0, high=np.inf) for one in found]
    *groups, of_outcome = map(CorrectionEffect, before.tolist(), after.tolist(), found)
    return Notified(dict(zip(rows.names, groups, strict=True)), of_outcome)


def ranks(
    frame: Any,
    *,
    score: str,
    outcome: str,
    group: str,
    query: str,
    bins: Bins = 10,
    person: str | None = None,
    delta: float = 0.05,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, CorrectionEffect]:
    """Estimate how correction changes the average rank of each group, 1 being the top [§4.2].

    A row is a candidate in a list (`query`) ranked by score; candidates with an outcome were seen.
    Of each corrected list, only the top counts: as many candidates as were seen. Limits are like
    those of notifications.
    """
    columns = RowNames(score, outcome, group, query, person)
    rows = ScoredRows.of(frame, columns)
    seen = rows.seen
    if not seen.any():
        raise InputError(f"No row has a value in {outcome!r}, so no outcome was observed.")
    edges = _edges_of_seen(rows.scores, rows.scores[seen], bins)
    corrected = Corrected.of(rows, frame, columns, edges)

    def averaged(copies: Copies) -> Floats:
        """Return the average rank by group, before and after the correction."""
        depth = rows.by_query(copies.within * seen)[rows.query]
        predicted = corrected.predicted(copies.of_rows)
        was = rows.ahead(rows.scores, copies.within), copies.within * seen
        ahead = rows.ahead(predicted, copies.within)
        will = ahead, np.clip(depth - ahead, 0.0, copies.within)
        return np.array([_average_rank(rows, copies, *one) for one in (was, will)])

    before, after = averaged(Copies.of(rows))
    found = limits_of(rows, averaged, _difference, delta, replicates, seed)
    changes = map(CorrectionEffect, before.tolist(), after.tolist(), found)
    return dict(zip(rows.names, changes, strict=True))


def _average_rank(rows: ScoredRows, copies: Copies, ahead: Floats, taken: Floats) -> Floats:
    """Return average ranks by group; the taken copies of a row have the positions just behind those
    ahead.
    """
    weights = copies.times * taken
    totals, counts = rows.by_group(weights * (ahead + (taken + 1) / 2)), rows.by_group(weights)
    found = np.full(len(counts), np.nan)
    np.divide(totals, counts, out=found, where=counts > 0)
    return found


def _percent(before: Floats, after: Floats) -> Floats:
    found = np.full(len(before), np.nan)
    np.divide(100 * (after - before), before, out=found, where=before != 0)
    return found


def _difference(before: Floats, after: Floats) -> Floats:
    return np.asarray(after - before)


def _edges_of_seen(scores: Floats, seen: Floats, bins: Bins) -> Floats:
    """Return quantiles of the seen candidates, with end bins extended to cover everybody."""
    found = edges_of(seen, bins)
    if isinstance(bins, int):
        found[[0, -1]] = min(found[0], scores.min()), max(found[-1], scores.max())
    return found


def _refuse_silence(rows: ScoredRows, sent: NDArray[np.bool_], threshold: float) -> None:
    silent = int(np.isnan(rows.outcomes[sent]).sum())
    if not sent.any() or silent:
        raise InputError(
            f"{silent} of {sent.sum()} rows with a score of {threshold:g} or more have no "
            "outcome. Give the threshold from which notifications were sent.",
            case="missing-outcomes",
        )
