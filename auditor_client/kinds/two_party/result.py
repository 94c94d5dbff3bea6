"""Two-party audit: a receipt of the computation, and sums that only this machine holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from auditor_client.errors import InputError, ReceiptError
from auditor_client.kinds.protocol import Result
from auditor_client.kinds.two_party.exchange import KeptSums, load_sums
from auditor_client.stats.noise_distributions import Laplace, Noise
from openapi.kinds import two_party as contract
from openapi.resources import AuditKind, TwoPartyRelease, TwoPartyRequest
from privacy.metric_values.from_request import HISTOGRAM, Metric, make_metric

if TYPE_CHECKING:
    from auditor_client.two_party import Average, Decision, Ratios, SoftGroupSums

_ASKED = ("metric", "hidden_groups", "weight_scale")


@dataclass(frozen=True, repr=False)
class TwoPartyResult(Result[TwoPartyRelease]):
    """Sums of a metric for groups hidden from the platform, and the receipt of the run.

    `sums` are `NoisySums` of `auditor_client.two_party`, which has metrics, intervals and
    decisions.
    """

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(cls, asked: TwoPartyRequest, made: TwoPartyRelease) -> Iterator[str]:
        yield from (
            name.replace("_", " ") for name in _ASKED if getattr(asked, name) != getattr(made, name)
        )
        if made.cells != list(make_metric(asked.metric.model_dump()).layout.cells):
            yield "cells"

    @property
    def metric(self) -> Metric:
        return make_metric(self.release.metric.model_dump())

    @property
    def groups(self) -> tuple[str, ...]:
        return self._kept.groups

    @property
    def noise(self) -> Noise:
        """The distribution of the noise on each integer sum."""
        return Laplace(1 / self.part("sums").noise_scale)

    @property
    def sums(self) -> "SoftGroupSums":
        """Sums by group and cell, in numbers of people, with the distribution of their noise."""
        from auditor_client.two_party import SoftGroupSums  # SciPy takes a second to import

        return SoftGroupSums.of(
            self.groups,
            self.metric.layout,
            self._kept.sums,
            self.release.weight_scale,
            self.noise,
            self.metric.events,
        )

    def ratios(self, part: int = 0) -> "Ratios":
        """Return the metric of each group as a ratio, for one bin, rank or point if there are
        several.

        An AUC is not a ratio: see `two_party.aucs(sums)`.
        """
        from auditor_client import two_party

        name = self.release.metric.name
        if name == HISTOGRAM:
            return two_party.bin_shares(self.sums, part)
        if name == "pot":
            return two_party.kernel_averages(self.sums, part)
        if name == "lot":
            return two_party.rank_gaps(self.sums, part)
        if name == "auc":
            raise InputError("An AUC is not a ratio of sums. Use `two_party.aucs(audit.sums)`.")
        read = {
            "false-positives": two_party.false_flags,
            "outcomes": two_party.outcomes,
            "ndcg": two_party.ndcg,
        }
        return read[name](self.sums)

    def decide(self, tolerance: float, delta: float = 0.05) -> "Decision":
        """Return the decision of the metric's own rule at this tolerance, wrong with probability at
        most delta.

        For groups of too few people, it is inconclusive.
        """
        from auditor_client import two_party

        sums = self.sums
        if self.release.metric.name == HISTOGRAM:
            return two_party.gap_beyond(sums, tolerance, delta)
        match self.release.metric.name:
            case "auc":
                return two_party.auc_below(sums, tolerance, delta)
            case "ndcg":
                return two_party.service_below(self.ratios(), tolerance, delta)
            case "lot":
                return two_party.misranked(sums, tolerance, delta)
            case "pot":
                return two_party.impact_beyond(sums, tolerance, delta)
            case "outcomes":
                return two_party.spread_beyond(self.ratios(), tolerance, delta, rule="outcomes")
        return two_party.spread_beyond(self.ratios(), tolerance, delta)

    def averages(self, part: int = 0, delta: float = 0.05) -> "list[Average]":
        """Return the metric of each group with limits, for one bin, rank or point if there are
        several.

        For an AUC, the last value is that of everybody.
        """
        from auditor_client import two_party

        if self.release.metric.name == "auc":
            return two_party.aucs(self.sums, delta)
        return self.ratios(part).averages(delta)

    def table(self) -> pa.Table:
        """Return group, cell and noisy sum in numbers of people, one row each."""
        sums = self.sums
        rows = [
            {"group": group, "cell": cell, "sum": float(value)}
            for group, values in zip(sums.groups, sums.values, strict=True)
            for cell, value in zip(sums.layout.cells, values, strict=True)
        ]
        return pa.Table.from_pylist(rows)

    def numbers(self) -> dict[str, Any]:
        unit = self.release.weight_scale * self.metric.layout.scale
        error = self.part("sums").error_95 / unit
        sums = {} if load_sums(self.id) is None else self.table().to_pydict()
        return {**sums, "error_95": error}

    @cached_property
    def _kept(self) -> KeptSums:
        kept = load_sums(self.id)
        if kept is None:
            raise InputError(
                f"The sums of {self.id} were decrypted on another machine, which alone holds them."
            )
        if kept.transcript != self.release.transcript:
            raise ReceiptError(f"The receipt of {self.id} is of another run than its sums.")
        return kept
