"""Resources of regulators and operators: auditors, researchers, mandates, charges, keys."""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.kind_name import AuditKind, RegisteredKind
from openapi.kinds.registry import DEFAULT
from openapi.prices import BothRelations, Currency
from openapi.wire_model import (
    Amount,
    Assumption,
    Digest,
    Identifier,
    Instant,
    Personal,
    Wire,
    example,
)

RegisteredRole = Literal["auditor", "regulator", "operator"]
# An applicant becomes an auditor's researcher when the application is approved.
Role = Literal["auditor", "regulator", "operator", "applicant"]
MandateState = Literal["active", "suspended", "terminated"]
KeyPurpose = Literal["access-token", "receipt", "ledger"]
OpenedShare = Annotated[Decimal, Field(ge=0, le=1, decimal_places=6, allow_inf_nan=False)]
ExplorationLimit = Annotated[Amount, Field(le=1_000_000, decimal_places=6)]


class AuditorDraft(Wire):
    """Vetted research organisation."""

    model_config = example(name="Open Audit Lab")

    name: Annotated[str, Field(min_length=1, max_length=200, examples=["Open Audit Lab"])]


class Auditor(Wire):
    id: Identifier
    name: str
    created_at: Instant


class ResearcherDraft(Wire):
    """Named individual with their public key (JWK).

    `auditor_id` is required for researchers of an auditor, and absent for a regulator's or an
    operator's staff. `outside_subject` maps tokens of an external issuer to this person.
    """

    model_config = example(
        name={"text": "Ada Lovelace", "salt": "oB3v5cZy0yq1tZ8kq3i2hQ=="},
        role="auditor",
        auditor_id="auditor_0193c2a5f0d1000000000000000003",
        jwk={
            "kty": "OKP",
            "crv": "Ed25519",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        },
    )

    name: Personal
    role: RegisteredRole = "auditor"
    auditor_id: Identifier | None = None
    jwk: dict[str, Any] | None = None
    outside_subject: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class Researcher(Wire):
    id: Identifier
    name: str
    role: Role
    auditor_id: Identifier | None
    key_thumbprint: str | None
    created_at: Instant
    removed_at: Instant | None = None


class Renewal(Wire):
    """Renewal of a limit; the mandate's `lifetime_limit` is never renewed.

    `fixed`: the limit holds in each period of `days` from `valid_from` on. A span of that length
    across two periods may have twice the limit. `rolling`: the limit holds in every span of that
    length.
    """

    kind: Literal["fixed", "rolling"]
    days: Annotated[int, Field(ge=1, le=366)]


class MandateLimits(Wire):
    """Purpose, kinds of audit, people, limits and validity of a mandate.

    The limit is in epsilon, or in rho (zCDP) for audits with Gaussian noise: one of the two. It
    bounds the sum of change-one prices. `delta` is the delta at which a mandate in rho is shown as
    an (epsilon, delta). `researcher_ids` are the individuals who may spend it; null means everybody
    of the auditor. `exploration_limit` is the reward that people may lose because they are shown
    other recommendations than their own, in all audits of the mandate together; 0 allows no such
    audit. `opened_share` is the share of two-party runs that a regulator opens before their
    delivery (default: all).
    """

    purpose: Annotated[str, Field(min_length=1, max_length=2_000)]
    kinds: Annotated[list[RegisteredKind], Field(min_length=1)] = [DEFAULT]
    epsilon_limit: Annotated[Amount, Field(gt=0, le=1_000, decimal_places=6)] | None = None
    rho_limit: Annotated[Amount, Field(gt=0, le=1_000, decimal_places=6)] | None = None
    delta: Annotated[Decimal, Field(gt=0, lt=1, decimal_places=12)] | None = None
    renewal: Renewal | None = None
    lifetime_limit: Annotated[Amount, Field(gt=0, le=100_000, decimal_places=6)] | None = None
    exploration_limit: ExplorationLimit = Decimal(0)
    opened_share: OpenedShare = Decimal(1)
    valid_from: Instant
    valid_until: Instant
    researcher_ids: Annotated[list[Identifier], Field(min_length=1, max_length=100)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.epsilon_limit is None) == (self.rho_limit is None):
            raise ValueError("give either epsilon_limit or rho_limit")
        if (self.renewal is None) != (self.lifetime_limit is None):
            raise ValueError("give renewal and lifetime_limit together, or neither")
        if self.delta is not None and self.rho_limit is None:
            raise ValueError("delta is only for a limit in rho")
        return self


class MandateDraft(MandateLimits):
    """Mandate that a regulator grants to an auditor."""

    model_config = example(
        auditor_id="auditor_0193c2a5f0d1000000000000000003",
        purpose="Systemic risks of discrimination in job ads (DSA Article 34)",
        kinds=[DEFAULT],
        epsilon_limit="20",
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2099-01-01T00:00:00Z",
    )

    auditor_id: Identifier


class Mandate(Wire):
    """A mandate and its remaining budget, in its currency."""

    id: Identifier
    auditor_id: Identifier
    state: MandateState = "active"
    purpose: str
    kinds: list[AuditKind]
    researcher_ids: Annotated[
        list[Identifier] | None,
        Field(description="Individuals who may spend it (null: everybody of the auditor)."),
    ] = None
    currency: Currency
    epsilon_limit: Amount | None
    rho_limit: Amount | None
    approximate_epsilon: Annotated[
        float | None, Field(description="The epsilon that corresponds to rho_limit at delta.")
    ] = None
    delta: Decimal | None = None
    renewal: Renewal | None
    lifetime_limit: Amount | None
    spent: Annotated[Amount, Field(description="Spent since the mandate began.")]
    remaining: Annotated[Amount, Field(description="Available now.")]
    exploration_limit: Amount = Decimal(0)
    exploration_spent: Amount = Decimal(0)
    exploration_remaining: Amount = Decimal(0)
    opened_share: OpenedShare = Decimal(1)
    valid_from: Instant
    valid_until: Instant
    created_at: Instant


class Budget(Wire):
    """All mandates of the calling auditor, newest first."""

    mandates: list[Mandate]


class Charge(Wire):
    """A charge with its auditor, audit and audience. A refunded charge stays listed."""

    id: Identifier
    auditor_id: Identifier
    researcher_id: Identifier
    mandate_id: Identifier
    audit_id: Identifier
    audience_id: Identifier
    audience_commitment: Digest
    content_digests: list[Digest]
    kind: AuditKind
    epsilon: BothRelations | None
    rho: BothRelations
    currency: Currency
    debit: Amount
    exploration_loss: Amount = Decimal(0)
    assumes: list[Assumption] = []
    refunded: bool
    charged_at: Instant


class SigningKey(Wire):
    kid: str
    purpose: KeyPurpose
    created_at: Instant
    retired_at: Instant | None
