"""A finished audit: the release, its receipt, and what they say about fairness."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from auditor_client.errors import ContractError, InputError
from auditor_client.labels import name_of
from auditor_client.receipts import SavedReceipt
from openapi.models import Audit, Content, Edges, GroupHistogram, Mandate, ScoreHistogramRelease

if TYPE_CHECKING:
    from auditor_client.gap import FairnessGap

OUTSIDE = "outside"


@dataclass(frozen=True)
class FinishedAudit:
    """A release whose receipt was verified. Read from a receipt, it has no `audit`."""

    release: ScoreHistogramRelease
    keys: Mapping[str, Any] = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict)
    audit: Audit | None = None
    content: Content | None = None
    mandate: Mandate | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.release.groups):
            raise InputError("Two groups have the same name.")

    @classmethod
    def from_receipt(cls, path: str | Path) -> "FinishedAudit":
        """The audit of a receipt file, verified against the keys in it. Needs no network."""
        saved = SavedReceipt.load(path)
        release = saved.release()
        return cls(release, saved.keys, saved.names, content=saved.content, url=saved.url)

    @property
    def id(self) -> str:
        return self.release.audit_id

    @property
    def receipt(self) -> str:
        """The platform's signed statement: a compact JWS."""
        return self.release.receipt

    @property
    def counts(self) -> dict[str, list[int]]:
        """Noisy counts by name of group; the last one is of scores outside of all bins."""
        return {self._name(group): [*group.counts, group.outside] for group in self.release.groups}

    @property
    def known_sizes(self) -> dict[str, int]:
        """Exact numbers of scored people, where they are known."""
        return self._sizes("known")

    @property
    def noisy_sizes(self) -> dict[str, int]:
        """Noisy numbers of scored people, where they were bought."""
        return self._sizes("noisy")

    def epsilon(self, part: str = "bins") -> Fraction:
        """How much noise there is on one number of a part of the release: 1 / scale.

        A person in up to k groups moves k cells: the scale is k / epsilon, and it is the scale that
        says how large the noise is.
        """
        for item in self.release.price.parts:
            if item.name == part:
                return 1 / Fraction(item.scale)
        raise ContractError(f"The release does not state the noise of its {part}.")

    def fairness_gap(self, delta: float = 0.05) -> "FairnessGap":
        """The empirical fairness gap with an interval that holds with probability 1 - delta."""
        from auditor_client.gap import fairness_gap  # SciPy takes seconds to import

        try:
            return fairness_gap(
                self.counts,
                sizes=self.known_sizes,
                epsilon=self.epsilon("bins"),
                delta=delta,
                noisy_sizes=self.noisy_sizes,
                size_epsilon=self.epsilon("sizes") if self.noisy_sizes else None,
            )
        except ValueError as error:
            raise InputError(f"There is no gap to compute: {error}.") from error

    def limits(self) -> list[tuple[float, float]]:
        """Low and high end of each bin; of a level, the level twice."""
        bins = self.release.bins
        if isinstance(bins, Edges):
            return list(pairwise(bins.edges))
        return [(level, level) for level in bins.levels]

    def bin_names(self) -> list[str]:
        """One name per count, in words: an interval, a level, or outside."""
        return [*(_words(low, high) for low, high in self.limits()), OUTSIDE]

    def frame(self) -> pa.Table:
        """Group, bin and noisy count, one row each; the bin `outside` has no limits."""
        limits: list[tuple[float | None, float | None]] = [*self.limits(), (None, None)]
        rows = [
            {"group": name, "low": low, "high": high, "count": count}
            for name, counts in self.counts.items()
            for (low, high), count in zip(limits, counts, strict=True)
        ]
        types = {"group": pa.string(), "low": pa.float64(), "high": pa.float64()}
        return pa.Table.from_pylist(rows, pa.schema({**types, "count": pa.int64()}))

    def save_receipt(self, path: str | Path, *, names: bool = True) -> Path:
        """Write the receipt with the keys to verify it; `names=False` leaves names out."""
        kept = dict(self.names) if names else {}
        SavedReceipt(self.receipt, dict(self.keys), kept, self.content, self.url).save(path)
        return Path(path)

    def report(self, path: str | Path, *, alpha: float = 0.2, delta: float = 0.05) -> Path:
        """Write the report: one HTML file that needs no network."""
        from auditor_client.report import render  # charts take a second to import

        Path(path).write_text(render(self, alpha=alpha, delta=delta), encoding="utf-8")
        return Path(path)

    def _name(self, group: GroupHistogram) -> str:
        return name_of(self.names, group.label)

    def _sizes(self, kind: str) -> dict[str, int]:
        return {
            self._name(group): group.size.value
            for group in self.release.groups
            if group.size.kind == kind and group.size.value is not None
        }


def _words(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
