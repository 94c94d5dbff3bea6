"""Members of bodies and facts that the balances need, by kind of entry; other members are
ignored.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.entries import OLDER
from privacy.plans import PublicAudience, has_fixed_slots
from privacy.tables.price import Currency

Shape = TypeVar("Shape", bound=msgspec.Struct)
Role = Literal["auditor", "regulator", "operator"]
# States of the number of scored people per group: public, or available at a price.
Sizes = Literal["known", "noisy"]
Source = Literal["upload", "confirmed", "sample", "hidden"]
# Sources with a public number of people per group.
_KNOWN_SIZES = frozenset({"confirmed", "sample"})


def read(members: Mapping[str, Any], shape: type[Shape]) -> Shape:
    """Return the members in this schema; raise an error that names the fault."""
    try:
        return msgspec.convert(members, shape)
    except msgspec.ValidationError as error:
        raise EvidenceError(
            f"it is not a valid {shape.__name__}: {error}", case=f"malformed-{shape.__name__}"
        ) from error


class Both(msgspec.Struct, frozen=True):
    add_remove: str
    change_one: str


class AudienceEntryFacts(msgspec.Struct, frozen=True):
    """A sealed audience. Entries older than format 3 do not state groups and candidates."""

    audience_id: str
    commitment: str
    sizes: Sizes
    format: int = OLDER
    source: str = ""
    groups: int = 0
    groups_per_person: int = 0
    candidates: int | None = None

    def public(self) -> PublicAudience:
        """Return the facts from which bounds follow.

        An older entry states no numbers: here they are one, and only yes-or-no facts follow from
        them.
        """
        if self.format == OLDER:
            return PublicAudience(
                groups=1,
                groups_per_person=1,
                fixed_slots=has_fixed_slots(self.source),
                sizes_known=self.sizes == "known",
                candidates=1 if self.source == "hidden" else None,
            )
        return PublicAudience(
            groups=self.groups,
            groups_per_person=min(self.groups_per_person, self.groups),
            fixed_slots=has_fixed_slots(self.source),
            sizes_known=self.sizes == "known",
            candidates=self.candidates,
        )

    def check(self) -> None:
        """Raise if the facts of a new entry contradict each other."""
        if self.format == OLDER:
            return
        if self.source not in get_args(Source):
            raise EvidenceError(
                f"there is no source of audiences {self.source[:40]!r}", case="unknown-source"
            )
        if self.groups < 1 or self.groups_per_person < 1:
            raise EvidenceError(
                "an audience must have a group, and everybody must count in at least one",
                case="no-groups",
            )
        if (self.source == "hidden") != (self.candidates is not None and self.candidates > 0):
            raise EvidenceError(
                "candidates must be stated for a hidden audience, and only then",
                case="candidates-of-a-hidden-audience",
            )
        if (self.source in _KNOWN_SIZES) != (self.sizes == "known"):
            raise EvidenceError(
                f"the stated sizes do not match an audience of source {self.source}",
                case="sizes-of-the-source",
            )


class KindEnabledFacts(msgspec.Struct):
    """A kind of audit from a package, which the platform offers from now on.

    `digest` is that of all files of the package, which the operator checked beforehand.
    """

    kind: str
    package: str
    version: str
    digest: str
    by: str


class BalanceRepairFacts(msgspec.Struct):
    """Repair of people's balances: the reason, and the operator or migration that made it."""

    reason: str
    by: str


class OfAudience(msgspec.Struct):
    audience_id: str


class ChargeFacts(msgspec.Struct):
    """A charge. Since format 3 it states its `parts` and carries the `request`."""

    charge_id: str
    audit_id: str
    mandate_id: str
    audience_commitment: str | None
    epsilon: Both | None
    rho: Both
    currency: Currency
    debit: str
    exploration_loss: str = "0"
    assumes: list[str] = []
    format: int = OLDER
    parts: list[Any] = []
    request: str | None = None


class ChargeBody(msgspec.Struct):
    kind: str
    audience_id: str | None = None
    mandate_id: str | None = None
    mechanism: str | None = None
    epsilon: str | None = None
    size_epsilon: str | None = None
    rho: str | None = None
    size_rho: str | None = None
    duration_epsilon: str | None = None
    cost_epsilon: str | None = None
    alpha: str | None = None
    steps: int = 0
    targets: int = 0


class RegistrationBody(msgspec.Struct):
    digest: str


class RefundFacts(msgspec.Struct):
    charge_id: str
    audit_id: str
    currency: Currency
    debit: str
    exploration_loss: str = "0"


class AuditFacts(msgspec.Struct):
    audit_id: str


class DrawFacts(msgspec.Struct):
    """Checkpoint that determined whether a run is opened."""

    size: int
    root: str


class ReleaseFacts(AuditFacts):
    transcript: str | None = None
    draw: DrawFacts | None = None


class AnswerFacts(AuditFacts):
    transcript: str


class OpeningBody(AuditFacts):
    transcript: str
    findings: list[str]


class RenewalFacts(msgspec.Struct):
    kind: Literal["fixed", "rolling"]
    days: int


class MandateBody(msgspec.Struct):
    kinds: list[str]
    valid_from: str
    valid_until: str
    auditor_id: str | None = None
    researcher_ids: list[str] | None = None
    epsilon_limit: str | None = None
    rho_limit: str | None = None
    renewal: RenewalFacts | None = None
    lifetime_limit: str | None = None
    exploration_limit: str = "0"
    opened_share: str = "1"


class MandateFacts(msgspec.Struct):
    mandate_id: str


class MandateChange(msgspec.Struct):
    mandate_id: str
    epsilon_limit: str | None = None
    rho_limit: str | None = None
    lifetime_limit: str | None = None
    exploration_limit: str | None = None
    kinds: list[str] | None = None
    valid_until: str | None = None


class OfMandate(msgspec.Struct):
    """A suspension, a resumption, a termination."""

    mandate_id: str


class AuditorFacts(msgspec.Struct):
    auditor_id: str


class ResearcherBody(msgspec.Struct):
    role: Role
    auditor_id: str | None = None
    jwk: dict[str, Any] | None = None


class ResearcherFacts(msgspec.Struct):
    researcher_id: str
    role: Role
    key_thumbprint: str | None = None
    jwk: dict[str, Any] | None = None
    by: str | None = None


class KeyBody(msgspec.Struct):
    jwk: dict[str, Any]
    proof: str


class KeyFacts(msgspec.Struct):
    researcher_id: str
    key_thumbprint: str


class RemovalBody(msgspec.Struct):
    researcher_id: str


class IndividualFacts(msgspec.Struct):
    jwk: dict[str, Any]
    proof: str | None = None


class ApplicationBody(msgspec.Struct):
    individuals: list[IndividualFacts]


class ApplicationFacts(msgspec.Struct):
    application_id: str
    version: int
    individuals: list[KeyFacts]


class DecisionBody(msgspec.Struct):
    application_id: str
    version: int
    decision: str
    application_digest: str | None = None
    mandate: MandateBody | None = None


class DecisionFacts(msgspec.Struct):
    auditor_id: str
    mandate_id: str


class SettingsFacts(msgspec.Struct):
    values: dict[str, Any]


class SigningKeyFacts(msgspec.Struct):
    purpose: str
    jwk: dict[str, Any] | None = None
