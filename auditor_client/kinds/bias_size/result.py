"""The size of a bias (paper 3, §4.1 and §4.2): the change of opportunities without it.

[CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.kinds.protocol import Result
from auditor_client.stats.outcome_moments import OutcomeMoments
from openapi.kinds import bias_size as contract
from openapi.resources import AuditKind, BiasSizeRelease, BiasSizeRequest

_ASKED = (
    "log",
    "bins",
    "corrections",
    "slopes",
    "outcome_range",
    "places",
    "rows_per_person",
)


@dataclass(frozen=True)
class Corrections:
    """Corrected scores of each group: `slopes` of the bin times the score, plus `add` of the
    bin.
    """

    edges: tuple[float, ...]
    add: Mapping[str, Sequence[float]]
    slopes: Sequence[float]

    @classmethod
    def none(cls, edges: Sequence[float], groups: Sequence[str]) -> "Corrections":
        """Return corrections that leave scores unchanged."""
        bins = len(edges) - 1
        return cls(tuple(edges), {name: [0.0] * bins for name in groups}, [1.0] * bins)

    @classmethod
    def of(cls, moments: OutcomeMoments, *, binary: bool = False) -> "Corrections":
        """Return corrections to the outcomes that each bin's regression predicts, as in the paper.

        A bin with too few outcomes is corrected as the nearest bin that has enough, and the lower
        one of two. `InputError` if no bin has.
        """
        bins = range(len(moments.edges) - 1)
        found = {
            number: correction
            for number in bins
            if (correction := _correction(moments, number, binary))
        }
        if not found:
            raise InputError(
                "The outcome test has too few outcomes in every bin to correct scores. Run one with"
                " fewer bins, more people or a larger epsilon.",
                case="few-outcomes-in-a-bin",
            )
        nearest = [min(found, key=lambda other: (abs(other - number), other)) for number in bins]
        add = {
            name: [found[number][0][index] for number in nearest]
            for index, name in enumerate(moments.groups)
        }
        return cls(moments.edges, add, [found[number][1] for number in nearest])


def _correction(
    moments: OutcomeMoments, number: int, binary: bool
) -> tuple[list[float], float] | None:
    """Return what a bin adds by group, and its slope; None if it has too few outcomes."""
    from auditor_client.outcome.scored_rows import regression_of  # SciPy takes seconds to import

    low, high = moments.limits(number)
    try:
        level, slope = regression_of(moments, number, binary)
    except InputError as error:
        if error.case != "few-outcomes-in-a-bin":
            raise
        return None
    # The scaled score is (2s - low - high) / (high - low).
    middle = level - slope * (low + high) / (high - low)
    add = [float(moments.outcome(value)) for value in middle.tolist()]
    return add, moments.outcome_scale * slope * 2 / (high - low)


@dataclass(frozen=True)
class OpportunityChange:
    """A number before and after the correction, and the change, with limits."""

    before: float
    after: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class BiasSizeResult(Result[BiasSizeRelease]):
    """Noisy numbers of opportunities by group, before and after a correction with equal totals.

    The result describes the drawn rows: limits account for the noise, and nothing else. Only rows
    of the audience compete with each other; see `caution`.
    """

    kind: ClassVar[AuditKind] = contract.KIND.name
    caution: ClassVar[str] = (
        "Only rows of the audience compete: within a query, opportunities move between "
        "people of the audience and never to or from others. If other people compete "
        "too, the result understates the effect on the platform, often by far. For "
        "example, an audit of 300 people found +1.3 %, while the platform's change was "
        "+15.4 %. The limits do not cover this."
    )

    @classmethod
    def mismatches(cls, asked: BiasSizeRequest, made: BiasSizeRelease) -> Iterator[str]:
        yield from (
            name.replace("_", " ") for name in _ASKED if getattr(asked, name) != getattr(made, name)
        )
        ranked = asked.places is not None
        if any((group.given_ranks is not None) != ranked for group in made.groups):
            yield "number of sums"
        if any(part.mechanism != asked.mechanism for part in made.price.parts):
            yield "mechanism"

    def notifications(self, delta: float = 0.05) -> dict[str, OpportunityChange]:
        """Return N%Δ by group: the change, in percent, of the number of its rows with an
        opportunity.
        """
        error = self._error(delta, 2 * len(self.release.groups))
        found = {each.label: (each.given, each.corrected) for each in self.release.groups}
        return self.by_name(
            {label: _percent(*self._ones(*pair), error) for label, pair in found.items()}
        )

    def outcome(self, delta: float = 0.05) -> OpportunityChange:
        """Return Y%Δ: the change, in percent, of the sum of outcomes of all opportunities."""
        low, high = self.release.outcome_range.low, self.release.outcome_range.high
        counts = [sum(column) for column in zip(*self._counts(), strict=True)]
        sums = self._ones(self.release.outcome, self.release.corrected_outcome)
        before, after = (low * n + (high - low) * y for n, y in zip(counts, sums, strict=True))
        # Both sums have errors and, if outcomes do not start at 0, so do the counts of all groups.
        error = self._error(delta, 2 + 2 * len(self.release.groups))
        groups = len(self.release.groups)
        return _percent(before, after, ((high - low) + abs(low) * groups) * error)

    def ranks(self, delta: float = 0.05) -> dict[str, OpportunityChange]:
        """Return the average rank of each group (1 is the highest), before and after the
        correction.
        """
        places = self.release.places
        if places is None:
            raise InputError(
                "This audit did not include ranks. Request them with `places`.", case="no-ranks"
            )
        error = self._error(delta, 4 * len(self.release.groups))
        found = {}
        for each in self.release.groups:
            counts = self._ones(each.given, each.corrected)
            sums = self._ones(each.given_ranks or 0, each.corrected_ranks or 0)
            was, will = (
                _mean(places * total, count, places * error, error, places)
                for total, count in zip(sums, counts, strict=True)
            )
            found[each.label] = OpportunityChange(
                was[0], will[0], will[0] - was[0], will[1] - was[2], will[2] - was[1]
            )
        return self.by_name(found)

    def table(self) -> pa.Table:
        """Return each group's opportunities before and after the correction, one row each."""
        rows = [
            {"group": name, "before": one.before, "after": one.after}
            | {"change_percent": one.value, "low": one.low, "high": one.high}
            for name, one in self.notifications().items()
        ]
        return pa.Table.from_pylist(rows)

    def numbers(self) -> dict[str, Any]:
        moved = {
            name: {"change_percent": one.value, "low": one.low, "high": one.high}
            for name, one in self.notifications().items()
        }
        return {"opportunities": moved, "error_95": self.error_95, "caution": self.caution}

    @property
    def error_95(self) -> float:
        """Error that each number of rows alone exceeds with a probability of at most 5 %."""
        return self.part("sums").error_95 / self.release.unit

    def _counts(self) -> list[tuple[float, float]]:
        return [self._ones(each.given, each.corrected) for each in self.release.groups]

    def _ones(self, before: float, after: float) -> tuple[float, float]:
        return before / self.release.unit, after / self.release.unit

    def _error(self, delta: float, sums: int) -> float:
        """Return the bound on the errors of all sums at once that holds with probability 1 -
        delta.
        """
        if not 0 < delta < 1:
            raise InputError(f"delta must lie between 0 and 1, not {delta}.")
        stated, each = self.part("sums"), delta / sums
        if stated.mechanism == "discrete-gaussian":
            # The discrete Gaussian is σ²-sub-Gaussian: P(|Z| ≥ t) ≤ 2 exp(-t² / 2σ²).   [CKS20]
            units = math.ceil(stated.noise_scale * math.sqrt(2 * math.log(2 / each)))
        else:
            # P(|Z| > t) = 2 q^(t+1) / (1 + q) ≤ 2 q^t / (1 + q), q = exp(-1 / scale)
            q = math.exp(-1 / stated.noise_scale)
            units = math.ceil(math.log(2 / (each * (1 + q))) * stated.noise_scale)
        return units / self.release.unit


def _percent(before: float, after: float, error: float) -> OpportunityChange:
    """Return the change in percent, if both numbers err by at most `error`; both are at least 0."""
    least, most = max(before - error, 0.0), before + error
    value = 100 * (after / before - 1) if before > 0 else math.nan
    low = 100 * (max(after - error, 0.0) / most - 1) if most > 0 else -100.0
    high = 100 * ((after + error) / least - 1) if least > 0 else math.inf
    return OpportunityChange(before, after, value, low, high)


def _mean(
    total: float, count: float, error: float, count_error: float, places: int
) -> tuple[float, float, float]:
    """Return a mean of ranks from 1 to `places`, with its limits."""
    value = total / count if count > 0 else math.nan
    least, most = count - count_error, count + count_error
    low = (total - error) / most if most > 0 else 1.0
    high = (total + error) / least if least > 0 else math.inf
    return value, max(low, 1.0), min(high, float(places))
