"""Protocol of a kind of audit: the platform's half, one package per kind.

A kind states the platforms that can offer it, its refusals, its release plan, its counting rules
and the form of its release. Nothing else in the service distinguishes kinds. Only `reduce` sees
people, and its tables leave the service only as noisy releases. Everything else reads the request
and public facts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from api.kinds.context import AuditContext
from api.platforms.interfaces import Platform
from openapi.kinds.contract import KindContract
from openapi.resources.audiences import SupportedSource
from privacy.plans import PLANS, PublicAudience
from privacy.tables.bounded_table import Table
from privacy.tables.membership import Membership
from privacy.waist import ReleasePlan, make_mechanisms

# Source of an audience:
# - uploaded identifiers;
# - uploaded identifiers of people who confirmed on the platform that they take part;
# - a sample that the platform drew;
# - identifiers that the platform never sees.
Source = SupportedSource
# Sources whose people are known, and debited, at the charge.
KNOWN_AT_CHARGE: frozenset[Source] = frozenset({"upload", "confirmed", "sample"})


@dataclass(frozen=True)
class AudienceFacts:
    """The public facts about a sealed audience."""

    labels: tuple[str, ...]
    groups_per_person: int
    # Number of people per group, where it is public.
    known_sizes: tuple[int, ...] | None
    # Whether adding one person displaces another, as in samples and hidden audiences.
    fixed_slots: bool = False
    source: Source = "upload"
    # Number of identifiers uploaded, or of people drawn.
    members: int = 0
    # Whether the auditor declared that everybody consented to be shown other recommendations.
    consented: bool = False
    # Whether the platform keeps the person found for each row of the upload, in order.
    ordered: bool = False
    # Number of the platform's people, padded, with which a hidden audience is compared.
    candidates: int | None = None
    # Whether another audit already uses this hidden audience.
    taken: bool = False

    @property
    def public(self) -> PublicAudience:
        """Return the facts from which bounds follow, as the audience's ledger entry states them."""
        return PublicAudience(
            groups=len(self.labels),
            groups_per_person=self.groups_per_person,
            fixed_slots=self.fixed_slots,
            sizes_known=self.known_sizes is not None,
            candidates=self.candidates,
        )


def plan_release(request: Any, audience: AudienceFacts) -> ReleasePlan:
    """Return the plan of a request, as its kind plans it (`privacy.plans`)."""
    return make_mechanisms(PLANS[request.kind](request.model_dump(mode="json"), audience.public))


@dataclass(frozen=True)
class PayingMandate:
    """Public facts of the mandate that is about to pay for an audit.

    `load_regulator_key` returns the public key of the regulator who granted the mandate, as a JWK.
    It raises `NoMandateError` if the regulator has no Ed25519 key.
    """

    load_regulator_key: Callable[[], Mapping[str, str]]


BeforeCharge = Callable[[Any, PayingMandate], None]


@dataclass(frozen=True)
class PlatformKind:
    """Kind of audit as a platform runs it: its contract and its platform half.

    `requests` are those that `platform-auditor kinds check` tries on small worlds (default: the
    example of the contract). Their identifiers are filled in.

    `runs_in_worker` states whether a worker takes charged audits of this kind from the queue
    (default: yes). Otherwise they take no worker, and the package of the kind must end them.

    `before_charge` is called with the request and the mandate that pays, while the ledger is
    locked. It raises `RefusalError` for a mandate that cannot pay for this kind.
    """

    contract: KindContract
    half: "Kind"
    requests: tuple[Mapping[str, Any], ...] = ()
    runs_in_worker: bool = True
    before_charge: BeforeCharge | None = None


class Kind(Protocol):
    """One kind of audit; `request` is the wire model of that kind."""

    @property
    def sources(self) -> frozenset[Source]:
        """Sources of audiences that this kind supports; others are refused before the charge."""
        ...

    def offered_by(self, platform: Platform) -> bool:
        """Return whether the platform's capabilities support this kind."""
        ...

    def check(self, request: Any, audience: AudienceFacts, platform: Platform) -> None:
        """Raise `RefusalError` for a request that cannot run, before anything is charged."""
        ...

    def plan(self, request: Any, audience: AudienceFacts) -> ReleasePlan:
        """Return the tables to release and their noise, on which alone the price depends."""
        ...

    def reduce(
        self,
        request: Any,
        plan: ReleasePlan,
        contents: Sequence[Mapping[str, Any]],
        membership: Membership,
        context: AuditContext,
    ) -> Mapping[str, Table]:
        """Compute the tables of the plan, within its bounds, from private data."""
        ...

    def held_bytes(self, request: Any, audience: AudienceFacts) -> int:
        """Return the memory by declared sizes, in addition to people, a batch and tables."""
        ...

    def present(
        self,
        request: Any,
        audience: AudienceFacts,
        digests: Sequence[str],
        released: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the kind's own fields of the release; `digests` are those of the contents."""
        ...

    def rules(self, request: Any, platform: Platform) -> tuple[str, ...]:
        """Return the counting rules in addition to those of every kind."""
        ...

    def model_digest(self, request: Any, platform: Platform) -> str | None:
        """Return the digest of the model whose output is read, if there is one."""
        ...
