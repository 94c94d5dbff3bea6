"""What every finished audit has, of whichever kind: a verified release and its receipt."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

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

R = TypeVar("R", bound=Released)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Result(Generic[R]):
    """A release whose receipt was verified. Read from a receipt, it has no `audit`."""

    kind: ClassVar[AuditKind]

    release: R
    keys: Mapping[str, Any] = field(repr=False)
    names: Mapping[str, str] = field(default_factory=dict)
    audit: Audit | None = None
    contents: tuple[Content, ...] = ()
    mandate: Mandate | None = None
    url: str | None = None
    # Asks for the proof that the release is in the ledger, which takes a few seconds to be signed.
    prove: Callable[[], InclusionProof | None] | None = field(
        default=None, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        found = getattr(self.release, "kind", None)
        if found != self.kind:
            raise InputError(
                f"This is a {found}, not a {self.kind}: another class reads it.",
                case="another-kind",
            )
        labels = [group.label for group in getattr(self.release, "groups", ())]
        if len({name_of(self.names, label) for label in labels}) != len(labels):
            raise InputError("Two groups have the same name.", case="equal-names")

    @classmethod
    def mismatches(cls, asked: Any, made: R) -> Iterator[str]:  # noqa: ARG003  (nothing to hold)
        """In what a release of this kind is not of the request, beside what all have in common."""
        yield from ()

    def numbers(self) -> dict[str, Any]:
        """What the audit says, in one row."""
        raise NotImplementedError

    @classmethod
    def from_receipt(cls, path: str | Path) -> Self:
        """The audit of a receipt file, verified against the keys in it. Needs no network."""
        saved = SavedReceipt.load(path)
        release: Any = saved.release()  # of any kind; `__post_init__` refuses others than ours
        return cls(
            release,
            saved.keys,
            saved.names,
            contents=saved.contents,
            url=saved.url,
            prove=lambda: saved.proof,
        )

    def save_receipt(self, path: str | Path, *, names: bool = True) -> Path:
        """Write the receipt with keys and proof to verify it; `names=False` leaves names out."""
        kept = dict(self.names) if names else {}
        proof = self.prove() if self.prove else None
        saved = SavedReceipt(self.receipt, dict(self.keys), kept, self.contents, self.url, proof)
        saved.save(path)
        return Path(path)

    def known_proof(self) -> InclusionProof | None:
        """The proof that a receipt file brought along; a connected audit would have to ask."""
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
        """Values by name of group, from values by label."""
        return {name_of(self.names, label): value for label, value in values.items()}
