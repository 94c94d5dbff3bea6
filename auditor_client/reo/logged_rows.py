"""Equal opportunity from a researcher's own logs: the penalty, changes, days and stages.

If the viewer of each row is known, rows of one viewer count as one draw: with x_v the positives of
viewer v in all cells, Σ_v x_v x_vᵀ is the covariance of the counts (minus a term that does not
affect relative utilities). Without viewers, rows are treated as independent, and intervals are too
short if they are not. With ten rows per viewer, the true error was 1.7 times that of independent
rows.

[Kish] Kish, Survey Sampling, 1965, §11.7 (the effective number of units of unequal weights).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from auditor_client.errors import InputError
from auditor_client.reo.ab_differences import PenaltyDifference, difference_of
from auditor_client.reo.counts import WITHOUT_RANDOM, PositiveCounts
from auditor_client.reo.logs import Columns, Source, TrafficLog, read_log
from auditor_client.reo.monitoring import Monitoring, watch_penalties
from auditor_client.reo.parity import parity
from auditor_client.reo.penalty_estimate import Penalty, check_delta, penalty_of
from auditor_client.reo.stages import Stages
from auditor_client.reo.utilities import utilities_from_cells
from auditor_client.stats.noise_distributions import Floats


@dataclass(frozen=True, eq=False)
class OwnLogs:
    """Logs of default and random traffic, and optionally of a treatment and of content that passed
    recall.
    """

    default: TrafficLog
    random: TrafficLog
    treatment: TrafficLog | None = None
    recalled: TrafficLog | None = None

    def __post_init__(self) -> None:
        logs = [log for log in (self.default, self.random, self.treatment, self.recalled) if log]
        _check(logs)
        if not sum(self.default.positives.values()):
            raise InputError(
                "No row of default traffic is positive, so there is nothing to compare.",
                case="no-positives",
            )
        for log in (self.random, self.recalled):
            empty = [name for name, count in (log.positives if log else {}).items() if not count]
            if log and empty:
                raise InputError(
                    f"No row of {_some(empty)} in {log.traffic} traffic is positive. "
                    "Merge groups, or add rows.",
                    case="group-without-positives",
                )

    def penalty(self, delta: float = 0.05) -> Penalty:
        """Return the penalty of default traffic."""
        return penalty_between(self.default, self.random, delta)

    def parity(self, delta: float = 0.05) -> Penalty:
        """Return statistical parity: shown rows compared with random traffic, which is uniform.

        Raise InputError if the logs name viewers. It treats rows as independent; for viewers with
        many rows, 95 % intervals contained the true value in 78.7 % of cases.
        """
        if self.default.viewer is not None:
            raise InputError(
                "Statistical parity treats rows as independent and would ignore the "
                "viewers that these logs name. With many rows per viewer, its 95 % "
                "intervals contained the true value in 78.7 % of cases. Read the logs "
                "without `viewer=` only if each viewer has one row, or call `reo.parity` "
                "with `rows_per_viewer=`.",
                case="parity-of-viewers",
            )
        return parity(self.default.shown, self.random.shown, delta, sampled=True)

    def difference(self, delta: float = 0.05) -> PenaltyDifference:
        """Return the change of the penalty by the treatment."""
        if self.treatment is None:
            raise InputError("There is no log of a treatment. Give one.")
        logs = [self.treatment, self.default, self.random]
        sampling, most = _clustered(logs)
        treatment, control, random = map(_counts, logs)
        return difference_of(
            treatment, control, random, delta, rows_per_viewer=most, sampling=sampling
        )

    def monitor(self, delta: float = 0.05) -> Monitoring:
        """Return the penalty of each day; days share delta."""
        days = self.default.days()
        found = {
            day: penalty_between(log, self.random, delta / len(days)) for day, log in days.items()
        }
        return watch_penalties(found, delta)

    def stages(self, delta: float = 0.05) -> Stages:
        """Return the penalties of recall and ranking."""
        if self.recalled is None:
            raise InputError("There is no log of content that passed the recall stage. Give one.")
        return Stages(
            whole=self.penalty(delta),
            recall=penalty_between(self.recalled, self.random, delta),
            ranking=penalty_between(self.default, self.recalled, delta),
        )


def own_logs(
    default: Source,
    random: Source | None,
    labels: Sequence[str],
    group: str,
    *,
    viewer: str | None = None,
    day: str | None = None,
    treatment: Source | None = None,
    recalled: Source | None = None,
) -> OwnLogs:
    """Return logs from files (Parquet, CSV) or tables, counted by column.

    `labels` are the signals whose union is the label, `group` the creator's group.
    """
    if random is None:
        raise InputError(WITHOUT_RANDOM, case="default-traffic-alone")
    columns = Columns(tuple(labels), group, viewer)
    dated = Columns(tuple(labels), group, viewer, day)
    return OwnLogs(
        read_log(default, dated, "default"),
        read_log(random, columns, "random"),
        None if treatment is None else read_log(treatment, columns, "treatment"),
        None if recalled is None else read_log(recalled, columns, "recalled"),
    )


def penalty_between(above: TrafficLog, below: TrafficLog, delta: float) -> Penalty:
    """Return the penalty of one traffic relative to another."""
    check_delta(delta)
    recommended, random = _counts(above), _counts(below)
    sampling, most = _clustered([above, below])
    if sampling is None:
        return penalty_of(recommended, random, delta)
    made = (
        None
        if (random.positives <= 0).any()
        else utilities_from_cells(recommended, random, sampling)
    )
    return penalty_of(
        recommended, random, delta, rows_per_viewer=most, found=made, sampling=np.diag(sampling)
    )


def _counts(log: TrafficLog) -> PositiveCounts:
    positives = log.positives
    return PositiveCounts(tuple(positives), np.asarray(list(positives.values()), float), log.rows)


def _check(logs: Sequence[TrafficLog]) -> None:
    """Refuse traffics unless all have the same two or more groups, and viewers in all or in
    none.
    """
    names = logs[0].groups
    if len(names) < 2:
        raise InputError(
            f"A comparison needs at least two groups, but there is only {names[0]!r}.",
            case="one-group",
        )
    for log in logs[1:]:
        if log.groups != names:
            alone = _some(sorted(set(names) ^ set(log.groups)))
            raise InputError(
                f"Group {alone} has rows in only one of {logs[0].traffic} and"
                f" {log.traffic} traffic.",
                case="group-of-one-traffic",
            )


def _some(names: Sequence[str]) -> str:
    """Return some of the names as text."""
    rest = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + rest


def _clustered(logs: Sequence[TrafficLog]) -> tuple[Floats | None, int]:
    """Return the covariance of all counts by viewers, and the largest number of positives of one
    viewer.
    """
    if any(log.viewer is None for log in logs):
        return None, 1
    size = len(logs[0].groups)
    parts = [log.positives_by_viewer() for log in logs]
    viewers = pa.chunked_array([chunk for viewer, _, _ in parts for chunk in viewer.chunks])
    codes = np.asarray(pc.dictionary_encode(viewers).combine_chunks().indices)
    cells = np.concatenate([group + size * k for k, (_, group, _) in enumerate(parts)])
    counts = np.concatenate([count for _, _, count in parts]).astype(float)
    shape = (int(codes.max(initial=0)) + 1, size * len(logs))
    by_viewer = sparse.csr_array((counts, (codes, cells)), shape=shape)
    covariance = np.asarray((by_viewer.T @ by_viewer).todense(), float)
    return covariance * _inflated(by_viewer), int(by_viewer.sum(axis=1).max())


def _inflated(by_viewer: sparse.csr_array) -> float:
    """Return the factor that corrects a variance measured on few viewers.

    It is V/(V - 3): V/(V - 1) because the means are estimated, times (V - 1)/(V - 3), the variance
    of Student's t. V is the effective number of viewers, (Σ x_v)² / Σ x_v² [Kish], the smallest
    over all counts.
    """
    sums, squares = by_viewer.sum(axis=0), by_viewer.power(2).sum(axis=0)
    viewers = float((sums[squares > 0] ** 2 / squares[squares > 0]).min(initial=np.inf))
    return viewers / max(viewers - 3, 1.0) if np.isfinite(viewers) else 1.0
