"""Balance histograms: how much of the lifetime cap the people of each group have spent."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import pyarrow as pa

from auditor_client.kinds.protocol import Result
from openapi.kinds import balance_histogram as contract
from openapi.resources import AuditKind, BalanceHistogramRelease, BalanceHistogramRequest


@dataclass(frozen=True, repr=False)
class BalanceHistogramResult(Result[BalanceHistogramRelease]):
    """Noisy numbers of people by their spent share of the lifetime cap; they may be below 0.

    Balances include debits by earlier audits of uploaded audiences, but not of samples drawn by the
    platform. People whom this audit would have debited beyond the cap are in no count, and neither
    are identifiers without a match. Counts lower than expected may come from either.
    """

    kind: ClassVar[AuditKind] = contract.KIND.name

    @classmethod
    def mismatches(
        cls, asked: BalanceHistogramRequest, made: BalanceHistogramRelease
    ) -> Iterator[str]:
        fits = all(len(group.counts) == len(asked.bins.edges) - 1 for group in made.groups)
        if made.bins != asked.bins or not fits:
            yield "bins"

    def numbers(self) -> dict[str, Any]:
        shares = [f"{low:g} to {high:g}" for low, high in pairwise(self.edges)]
        counts = {"shares_of_the_cap": shares, **self.counts, "outside": self.outside}
        return {**counts, "note": self.words, "error_95": self.error_95}

    @property
    def edges(self) -> list[float]:
        """The ends of the bins, as shares of the cap: one more than there are bins."""
        return self.release.bins.edges

    @property
    def counts(self) -> dict[str, list[int]]:
        """By name of group: people in each bin."""
        return self.by_name({group.label: group.counts for group in self.release.groups})

    @property
    def outside(self) -> dict[str, int]:
        """By name of group: people whose share is in no bin."""
        return self.by_name({group.label: group.outside for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Each count alone is off by more than this with a probability of at most 5 %."""
        return self.part("balances").error_95

    @property
    def words(self) -> str:
        """Return the caveats of the counts."""
        own = self.release.price.rho.change_one
        return (
            f"People who could not bear another {own} of rho within their lifetime cap are in no"
            " count, and neither is anybody whom no identifier matched; the two cannot be told"
            " apart. What samples took that the platform drew is not counted."
        )

    def frame(self) -> pa.Table:
        """Group, ends of the bin and count, one row each; outside of all bins has no ends."""
        rows = [
            {"group": name, "low": low, "high": high, "count": count}
            for name, counts in self.counts.items()
            for (low, high), count in zip(pairwise(self.edges), counts, strict=True)
        ]
        rows += [
            {"group": name, "low": None, "high": None, "count": count}
            for name, count in self.outside.items()
        ]
        types = {
            "group": pa.string(),
            "low": pa.float64(),
            "high": pa.float64(),
            "count": pa.int64(),
        }
        return pa.Table.from_pylist(rows, pa.schema(types))
