"""Cumulative counts of logged rows by a numeric column, and quantiles from them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from auditor_client.errors import InputError
from auditor_client.kinds.building_blocks.cumulative_counts import RunningCounts
from openapi.kinds import log_cdf as contract
from openapi.resources import AuditKind, LogCdfRelease, LogCdfRequest


@dataclass(frozen=True, repr=False)
class LogCdfResult(RunningCounts[LogCdfRelease]):
    """Noisy cumulative counts of logged rows."""

    kind: ClassVar[AuditKind] = contract.KIND.name
    all_there_is: ClassVar[str] = "everything"

    @classmethod
    def mismatches(cls, asked: LogCdfRequest, made: LogCdfRelease) -> Iterator[str]:
        if (made.log, made.column) != (asked.log, asked.column):
            yield "log"
        if made.rows_per_person != asked.rows_per_person:
            yield "number of rows per person"
        yield from super().mismatches(asked, made)

    def quantile_edges(self, bins: int) -> list[float]:
        """Return edges, among the requested ones, of about equally full bins of all groups
        together.

        An analysis uses only these edges, and it is valid for any edges. So a bad choice costs
        power and nothing else.
        """
        if bins < 1:
            raise InputError("At least one bin is needed.", case="no-bins")
        running = np.sum([counts[:-1] for counts in self.cumulative.values()], axis=0)
        # True cumulative counts do not fall, so falls caused by noise are smoothed away.
        running = np.maximum.accumulate(np.maximum(running, 0.0))
        ends = running[-1] * np.arange(1, bins) / bins
        chosen = np.searchsorted(running, ends)
        inner = [self.edges[index] for index in chosen.tolist()]
        return _distinct([self.release.bins.edges[0], *inner, self.edges[-1]])


def _distinct(edges: Sequence[float]) -> list[float]:
    return sorted(set(edges))
