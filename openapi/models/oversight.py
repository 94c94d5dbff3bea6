"""What regulators and operators see and do: auditors, researchers, mandates, charges, keys."""

from typing import Annotated, Any, Literal

from pydantic import Field

from openapi.models.audits import AuditKind, EpsilonPrice
from openapi.models.wire import Amount, Digest, Identifier, Instant, Wire, example

Name = Annotated[str, Field(min_length=1, max_length=200)]
Role = Literal["auditor", "regulator", "operator"]


class AuditorDraft(Wire):
    """A research organisation that was vetted."""

    model_config = example(name="Open Audit Lab")

    name: Annotated[str, Field(min_length=1, max_length=200, examples=["Open Audit Lab"])]


class Auditor(Wire):
    id: Identifier
    name: str
    created_at: Instant


class ResearcherDraft(Wire):
    """A named individual and the public key (JWK) that only they hold.

    `auditor_id` is needed for researchers of an auditor, and absent for a regulator's or an
    operator's staff. `outside_subject` maps tokens of an outside issuer to this person.
    """

    model_config = example(
        name="Ada Lovelace",
        role="auditor",
        auditor_id="auditor_0193c2a5f0d1000000000000000003",
        jwk={
            "kty": "OKP",
            "crv": "Ed25519",
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        },
    )

    name: Name
    role: Role = "auditor"
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


class MandateDraft(Wire):
    """What a regulator grants: purpose, kinds of audit, an epsilon limit, from and until."""

    model_config = example(
        auditor_id="auditor_0193c2a5f0d1000000000000000003",
        purpose="Systemic risks of discrimination in job ads (DSA Article 34)",
        kinds=["score-histogram"],
        epsilon_limit="20",
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2099-01-01T00:00:00Z",
    )

    auditor_id: Identifier
    purpose: Annotated[str, Field(min_length=1, max_length=2_000)]
    kinds: Annotated[list[AuditKind], Field(min_length=1)] = ["score-histogram"]
    epsilon_limit: Annotated[Amount, Field(gt=0, le=1_000, decimal_places=6)]
    valid_from: Instant
    valid_until: Instant


class Mandate(Wire):
    id: Identifier
    auditor_id: Identifier
    purpose: str
    kinds: list[AuditKind]
    epsilon_limit: Amount
    spent: Amount
    remaining: Amount
    valid_from: Instant
    valid_until: Instant
    created_at: Instant


class Budget(Wire):
    """All mandates of the auditor who asks, newest first."""

    mandates: list[Mandate]


class Charge(Wire):
    """Who paid what for which audit on which audience. A refunded charge stays listed."""

    id: Identifier
    auditor_id: Identifier
    researcher_id: Identifier
    mandate_id: Identifier
    audit_id: Identifier
    audience_id: Identifier
    audience_commitment: Digest
    content_digest: Digest
    kind: AuditKind
    epsilon: EpsilonPrice
    debit: Amount
    refunded: bool
    charged_at: Instant


class Entry(Wire):
    """One record of the append-only ledger, numbered without gaps."""

    number: Annotated[int, Field(ge=0)]
    kind: str
    auditor_id: Identifier | None
    body: dict[str, Any]
    digest: Digest
    written_at: Instant


class SigningKey(Wire):
    kid: str
    purpose: Literal["access-token", "receipt"]
    created_at: Instant
    retired_at: Instant | None
