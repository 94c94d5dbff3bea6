"""Result of a finished audit of any kind: a verified release, its receipt, and its answer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import pyarrow as pa

from auditor_client.audiences.labels import name_of
from auditor_client.errors import ContractError, InputError
from auditor_client.local.saved_receipt import SavedReceipt
from openapi.resources import (
    Audit,
    AuditKind,
    Content,
    InclusionProof,
    Mandate,
    PricePart,
    Released,
)

if TYPE_CHECKING:
    import polars as pl

    from auditor_client.fairness.metric_selection import MetricSelection
    from auditor_client.kinds.presentation import PresentedChart, Summary
    from auditor_client.reporting.results_document import Results

R = TypeVar("R", bound=Released)
Value = TypeVar("Value")


@dataclass(frozen=True, repr=False)
class Result(Generic[R]):
    """A release whose receipt was verified. A result from a receipt file has no `audit`."""

    kind: ClassVar[AuditKind]

    release: R
    keys: Mapping[str, Any] = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict)
    audit: Audit | None = None
    contents: tuple[Content, ...] = ()
    mandate: Mandate | None = None
    url: str | None = None
    # What is known on this machine of people who were recruited together.
    clusters: Mapping[str, float] | None = None
    # Fetch the proof that the release is in the ledger; its checkpoint is signed within a few
    # seconds.
    prove: Callable[[], InclusionProof | None] | None = field(
        default=None, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        found = getattr(self.release, "kind", None)
        if found != self.kind:
            raise InputError(
                f"This release is a {found}, not a {self.kind}. Use the class of that kind.",
                case="another-kind",
            )
        labels = [group.label for group in getattr(self.release, "groups", ())]
        if len({name_of(self.names, label) for label in labels}) != len(labels):
            raise InputError("Two groups have the same name.", case="equal-names")

    @classmethod
    def mismatches(cls, asked: Any, made: R) -> Iterator[str]:  # noqa: ARG003  (nothing to hold)
        """Yield differences between release and request, in addition to those that every kind
        checks.
        """
        yield from ()

    def numbers(self) -> dict[str, Any]:
        """Return the released numbers, as in JSON."""
        raise NotImplementedError

    def table(self) -> pa.Table:
        """Return the noisy numbers as an Arrow table (`.to_pandas()` for pandas)."""
        raise NotImplementedError

    def frame(self) -> "pl.DataFrame":
        """Return the noisy numbers as a Polars DataFrame; needs `platform-auditor[logs]`."""
        from auditor_client.local.data_frame import data_frame

        return data_frame(self.table())

    def summary(self, alpha: float | None = None, delta: float = 0.05) -> "Summary":
        """Return the answer: sentence, verdict, details and table.

        Default alpha: the tolerance of the kind.
        """
        from auditor_client.kinds.registry import kind_of

        return kind_of(self).summary(self, alpha, delta)

    def figures(
        self, alpha: float | None = None, delta: float = 0.05
    ) -> "tuple[PresentedChart, ...]":
        """Return the charts; a notebook displays `figure.chart`."""
        from auditor_client.kinds.registry import kind_of

        return kind_of(self).figures(self, alpha, delta)

    def report(
        self,
        path: str | Path,
        *,
        alpha: float | None = None,
        delta: float = 0.05,
        selection: "MetricSelection | None" = None,
    ) -> Path:
        """Write the report: one HTML file that needs no network. `selection` is of its metrics."""
        from auditor_client.kinds.report_page import render

        text = render(self, alpha=alpha, delta=delta, selection=selection)
        Path(path).write_text(text, encoding="utf-8")
        return Path(path)

    def results(
        self,
        *,
        alpha: float | None = None,
        delta: float = 0.05,
        selection: "MetricSelection | None" = None,
    ) -> "Results":
        """Return the results document, with the methods `to_json`, `to_latex` and `save`."""
        from auditor_client.kinds.analysis import analyse, results_of

        return results_of([analyse(self, alpha=alpha, delta=delta, selection=selection)])

    def __repr__(self) -> str:
        """Return one line that names the audit; `summary()` has its result."""
        released = f"{self.release.released_at:%Y-%m-%d}"
        return f"<{type(self).__name__} {self.id}, released {released}>"

    def _repr_html_(self) -> str:
        """Return the sentence and the table, as a notebook shows them."""
        from auditor_client.kinds.report_page import small

        return small(self.summary())

    @classmethod
    def from_receipt(cls, path: str | Path) -> Self:
        """Return the audit of a receipt file, verified against the keys in it. Needs no network."""
        saved = SavedReceipt.load(path)
        release: Any = saved.release()  # of any kind; `__post_init__` refuses the other kinds
        return cls(
            release,
            saved.keys,
            saved.names,
            contents=saved.contents,
            url=saved.url,
            clusters=saved.clusters,
            prove=lambda: saved.proof,
        )

    def save_receipt(self, path: str | Path, *, names: bool = True) -> Path:
        """Write the receipt with the keys and the proof that verify it; `names=False` omits names
        of groups.
        """
        kept = dict(self.names) if names else {}
        proof = self.prove() if self.prove else None
        clusters = dict(self.clusters) if self.clusters else None
        saved = SavedReceipt(
            self.receipt, dict(self.keys), kept, self.contents, self.url, proof, clusters
        )
        saved.save(path)
        return Path(path)

    def known_proof(self) -> InclusionProof | None:
        """Return the proof from a receipt file; a connected audit would have to fetch it."""
        return self.prove() if self.prove and self.audit is None else None

    @property
    def id(self) -> str:
        return self.release.audit_id

    @property
    def receipt(self) -> str:
        """The platform's signed statement: a compact JWS."""
        return self.release.receipt

    def part(self, name: str) -> PricePart:
        """Price, noise and error of one table of the release."""
        for part in self.release.price.parts:
            if part.name == name:
                return part
        raise ContractError(
            f"The release does not state the noise of its {name}.", case="no-noise-of-the-sizes"
        )

    def by_name(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return values by name of group, from values by label."""
        return {name_of(self.names, label): value for label, value in values.items()}
