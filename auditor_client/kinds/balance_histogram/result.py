"""Balance histograms: shares of the lifetime cap that the people of each group have spent."""

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
        """The edges of the bins, as shares of the cap: one more than the number of bins."""
        return self.release.bins.edges

    @property
    def counts(self) -> dict[str, list[int]]:
        """Noisy numbers of people in each bin, by name of group."""
        return self.by_name({group.label: group.counts for group in self.release.groups})

    @property
    def outside(self) -> dict[str, int]:
        """Noisy numbers of people whose share is in no bin, by name of group."""
        return self.by_name({group.label: group.outside for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Error that each count alone exceeds with a probability of at most 5 %."""
        return self.part("balances").error_95

    @property
    def words(self) -> str:
        """Return the caveats of the counts."""
        own = self.release.price.rho.change_one
        return (
            f"People whom another debit of {own} rho would take above their lifetime cap "
            "are in no count. People whom no identifier matched are also in no count, "
            "and the two cases cannot be distinguished. Debits by samples that the "
            "platform drew are not included."
        )

    def table(self) -> pa.Table:
        """Return group, edges of the bin and count, one row each; the count outside all bins has no
        edges.
        """
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
