"""Vetting: applications, decisions on them, and interventions in the granted mandates.

[DR] Delegated Regulation (EU) 2025/2050. [DSA] Regulation (EU) 2022/2065. Text that may name people
is `Personal`: the ledger only commits to it, so it can be erased.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.kind_name import AuditKind, RegisteredKind
from openapi.kinds.registry import DEFAULT
from openapi.resources.ledger import Number
from openapi.resources.mandates import ExplorationLimit, MandateLimits, Renewal, Role
from openapi.wire_model import Amount, Digest, Identifier, Instant, Personal, Wire, example

ApplicationState = Literal[
    "submitted",
    "changes-requested",
    "withdrawn",
    "refused",
    "approved",
    "amendment-requested",
    "amendment-decided",
    "mediation-requested",
    "in-mediation",
    "settled",
]
Decision = Literal[
    "request-changes", "extend", "approve", "refuse", "accept-amendment", "reject-amendment"
]
Ground = Literal["no-access", "vulnerability"]
MediationOutcome = Literal["requested", "opened", "declined", "agreed", "failed"]
WebhookState = Literal["active", "given-up"]
Version = Annotated[int, Field(ge=1, le=1_000)]
# Only strings: a statement has no floats.
PublicJwk = Annotated[
    dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=1_024)]],
    Field(min_length=2, max_length=12),
]
Limit = Annotated[Amount, Field(gt=0, le=1_000, decimal_places=6)]
# A detached signature; docs/how-to/regulators/vet-an-application.md defines the signed bytes.
Proof = Annotated[str, Field(max_length=2_000, pattern=r"^[A-Za-z0-9_-]+\.\.[A-Za-z0-9_-]+$")]

_SALT = "oB3v5cZy0yq1tZ8kq3i2hQ=="
_JWK = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
_APPLICATION = "application_0193c2a5f0d1000000000000000004"
_MANDATE = "mandate_0193c2a5f0d1000000000000000005"
_RESEARCHER = "researcher_0193c2a5f0d1000000000000000006"


def _text(words: str) -> dict[str, str]:
    return {"text": words, "salt": _SALT}


class IndividualDraft(Wire):
    """Named individual who needs access, with their public key.

    `proof`: the signature of this application by the individual's key (see
    docs/how-to/regulators/vet-an-application.md). The principal has none, because they sign the
    request.
    """

    name: Personal
    contact: Personal | None = None
    # [DR, Article 8(a)(i)]
    affiliation: Personal | None = None
    jwk: PublicJwk
    role: Literal["principal", "other"] = "other"
    proof: Proof | None = None


class ApplicationDraft(Wire):
    """Application for access, which the principal applicant signs [DR, Article 8]."""

    model_config = example(
        organisation="Open Audit Lab",
        individuals=[
            {
                "name": _text("Ada Lovelace"),
                "affiliation": _text("Senior researcher at the Open Audit Lab"),
                "jwk": _JWK,
                "role": "principal",
            }
        ],
        purpose="Discrimination in the delivery of job ads",
        systemic_risk=_text("Non-discrimination (DSA Article 34(1)(b)): job ads by gender."),
        research=_text("Compare the distribution of relevance scores between two groups."),
        necessity=_text("Scores are not public; noisy histograms are enough."),
        kinds=[DEFAULT],
        attributes=["gender"],
        epsilon_limit="20",
        valid_from="2026-01-01T00:00:00Z",
        valid_until="2099-01-01T00:00:00Z",
        funding=_text("A public research grant."),
        independence=_text("None of us has a commercial interest in the outcome."),
        data_protection=_text("Only noisy counts are received; members are hashed before upload."),
        publishes_free_of_charge=True,
    )

    organisation: Annotated[str, Field(min_length=1, max_length=200)]
    individuals: Annotated[list[IndividualDraft], Field(min_length=1, max_length=50)]
    purpose: Annotated[str, Field(min_length=1, max_length=2_000)]
    systemic_risk: Personal
    research: Personal
    necessity: Personal
    kinds: Annotated[list[RegisteredKind], Field(min_length=1)]
    attributes: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]],
        Field(max_length=50, description="Attributes in which the compared groups differ."),
    ]
    epsilon_limit: Limit | None = None
    rho_limit: Limit | None = None
    renewal: Renewal | None = None
    lifetime_limit: Annotated[Amount, Field(gt=0, le=100_000, decimal_places=6)] | None = None
    exploration_limit: ExplorationLimit = Decimal(0)
    valid_from: Instant
    valid_until: Instant
    funding: Personal
    independence: Personal
    data_protection: Personal
    # [DR, Article 8(a)(iii)]
    publishes_free_of_charge: Literal[True]

    @property
    def principal(self) -> IndividualDraft:
        return next(each for each in self.individuals if each.role == "principal")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if sum(each.role == "principal" for each in self.individuals) != 1:
            raise ValueError("one of the individuals is the principal applicant")
        if (self.epsilon_limit is None) == (self.rho_limit is None):
            raise ValueError("give either epsilon_limit or rho_limit")
        if (self.renewal is None) != (self.lifetime_limit is None):
            raise ValueError("give renewal and lifetime_limit together, or neither")
        return self


class KeyOnly(Wire):
    jwk: PublicJwk


class WithdrawalDraft(Wire):
    """Withdrawal of an application, named by its last version, by the applicant who holds this
    key.
    """

    model_config = example(application_id=_APPLICATION, individuals=[{"jwk": _JWK}])

    application_id: Identifier
    withdrawn: Literal[True] = True
    individuals: Annotated[list[KeyOnly], Field(min_length=1, max_length=1)]


class DecisionDraft(Wire):
    """Decision of a regulator on one version of an application.

    `approve` grants `mandate`: no more than was requested, to individuals of the application. It
    names `application_digest`, the digest of the canonical statement of the application that was
    read, so nobody can replace the application.
    `extend` moves the deadline to the end of `until`  [DR, Article 7(2)]. The last two decide on
    the platform's amendment request  [DSA, Article 40(6)].
    """

    model_config = example(
        application_id=_APPLICATION,
        version=1,
        decision="approve",
        application_digest="sha256:" + 64 * "0",
        reasons=_text("All conditions of Article 40(8) are met."),
        mandate={
            "purpose": "Discrimination in the delivery of job ads",
            "kinds": [DEFAULT],
            "epsilon_limit": "10",
            "valid_from": "2026-01-01T00:00:00Z",
            "valid_until": "2099-01-01T00:00:00Z",
            "researcher_ids": [_RESEARCHER],
        },
    )

    application_id: Identifier
    version: Version
    decision: Decision
    reasons: Personal
    application_digest: Digest | None = None
    mandate: MandateLimits | None = None
    until: date | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.decision == "approve") != (self.mandate is not None):
            raise ValueError("mandate must be set for an approval, and only then")
        if (self.decision == "approve") != (self.application_digest is not None):
            raise ValueError("application_digest must be set for an approval, and only then")
        if self.mandate is not None and not self.mandate.researcher_ids:
            raise ValueError(
                "the mandate must name researcher_ids, because access is per named individual"
            )
        if (self.decision == "extend") != (self.until is not None):
            raise ValueError("`until` must be set for an extension, and only then")
        return self


class AmendmentDraft(Wire):
    """Request of the platform to amend a grant, with a proposal of other means.

    `ground`: it has no access to the data, or access would make its service or trade secrets
    vulnerable  [DSA, Article 40(5)(a) and (b)].
    """

    model_config = example(
        application_id=_APPLICATION,
        ground="vulnerability",
        reasons=_text("So fine a histogram would disclose the ranking of advertisers."),
        proposal=_text("At most 50 bins, and epsilon 5."),
    )

    application_id: Identifier
    ground: Ground
    reasons: Personal
    proposal: Personal


class MediationDraft(Wire):
    """Step of the mediation [DR, Article 13].

    The platform `requested` it. The regulator `opened` it, with a time limit of `days` working
    days, or `declined` it. It is `agreed`, or has `failed` by either party's statement. An
    agreement takes effect by a change of the mandate.
    """

    model_config = example(
        application_id=_APPLICATION,
        outcome="requested",
        text=_text("We object to the decision on the number of bins."),
    )

    application_id: Identifier
    outcome: MediationOutcome
    text: Personal
    days: Annotated[int, Field(ge=1, le=40)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.outcome == "opened") != (self.days is not None):
            raise ValueError("`days` must be set when a mediation is opened, and only then")
        return self


class MandateStateDraft(Wire):
    """Suspension, resumption or termination of a mandate, with the reason."""

    model_config = example(
        mandate_id=_MANDATE, reason=_text("The conditions of Article 40(8) may no longer be met.")
    )

    mandate_id: Identifier
    reason: Personal


class MandateChangeDraft(Wire):
    """Changes of a mandate; null fields stay unchanged. Its currency and its individuals never
    change.
    """

    model_config = example(
        mandate_id=_MANDATE,
        epsilon_limit="5",
        reason=_text("As agreed in the mediation."),
    )

    mandate_id: Identifier
    epsilon_limit: Limit | None = None
    rho_limit: Limit | None = None
    lifetime_limit: Annotated[Amount, Field(gt=0, le=100_000, decimal_places=6)] | None = None
    exploration_limit: ExplorationLimit | None = None
    kinds: Annotated[list[RegisteredKind], Field(min_length=1)] | None = None
    valid_until: Instant | None = None
    reason: Personal

    @model_validator(mode="after")
    def _something(self) -> Self:
        changes = self.model_dump(exclude={"mandate_id", "reason"})
        if all(value is None for value in changes.values()):
            raise ValueError("no field changes the mandate: give at least one")
        return self


class StopDraft(Wire):
    """Stop of an audit that explores, with the reason: nobody is shown anything more."""

    model_config = example(
        audit_id="audit_0193c2a5f0d1000000000000000007",
        reason=_text("People complain about what they are shown."),
    )

    audit_id: Identifier
    reason: Personal


class KeyChangeDraft(Wire):
    """New public key of the caller. `proof`: the new key's signature (see
    docs/how-to/regulators/vet-an-application.md).

    The old key signs the request itself.
    """

    model_config = example(jwk=_JWK, proof="eyJhbGciOiJFZDI1NTE5In0..c2lnbmF0dXJl")

    jwk: PublicJwk
    proof: Proof


class RemovalDraft(Wire):
    """Permanent removal of an individual's access, with immediate effect."""

    model_config = example(
        researcher_id=_RESEARCHER, reason=_text("No longer employed by the research organisation.")
    )

    researcher_id: Identifier
    reason: Personal


class ErasureDraft(Wire):
    """Erasure of the personal text of an application or of an individual."""

    model_config = example(subject_id=_APPLICATION)

    subject_id: Identifier


class Erasure(Wire):
    """Erased texts: the ledger keeps the commitments, and nobody keeps the text."""

    subject_id: Identifier
    commitments: list[Digest]


class WebhookDraft(Wire):
    """URL to which new entries are pushed: those after number `after` (default: from now on)."""

    model_config = example(url="https://regulator.example.org/hooks/audits")

    url: Annotated[str, Field(min_length=10, max_length=500, pattern=r"^https?://[\x21-\x7e]+$")]
    after: Annotated[int, Field(ge=-1, le=2**62)] | None = None


class Webhook(Wire):
    """URL for pushed entries, with its progress and signing key (Standard Webhooks).

    `after` is the last entry delivered or skipped. `given-up`: no entry was accepted for a day;
    register it again with `after`.
    """

    id: Identifier
    url: str
    state: WebhookState
    after: Annotated[int, Field(ge=-1)]
    failures: Annotated[int, Field(ge=0, description="Number of consecutive failures up to now.")]
    public_key: str
    created_at: Instant


class Individual(Wire):
    """Named individual of an application; erased text is null."""

    researcher_id: Identifier
    key_thumbprint: str
    role: Literal["principal", "other"]
    name: str | None
    contact: str | None
    affiliation: str | None


class Deadline(Wire):
    """A deadline: the person, the action, the last day, and the law that sets it."""

    what: str
    who: str
    due: Annotated[Instant, Field(description="First moment after the period.")]
    last_day: Annotated[date, Field(description="Last day of the period, in `time_zone`.")]
    time_zone: Annotated[
        str,
        Field(
            description="IANA name of the time zone in which days begin and end.",
            examples=["Europe/Brussels"],
        ),
    ]
    law: str


class ApplicationEvent(Wire):
    """Change of state: its ledger entry, its signer, and its reason."""

    number: Number
    kind: str
    at: Instant
    by: str
    state: ApplicationState
    text: str | None


class Application(Wire):
    """Current state of an application; erased personal text is null."""

    id: Identifier
    state: ApplicationState
    version: Version
    organisation: str
    individuals: list[Individual]
    purpose: str
    systemic_risk: str | None
    research: str | None
    necessity: str | None
    kinds: list[AuditKind]
    attributes: list[str]
    epsilon_limit: Amount | None
    rho_limit: Amount | None
    renewal: Renewal | None
    lifetime_limit: Amount | None
    exploration_limit: Amount = Decimal(0)
    valid_from: Instant
    valid_until: Instant
    funding: str | None
    independence: str | None
    data_protection: str | None
    auditor_id: Identifier | None
    mandate_id: Identifier | None
    submitted_at: Instant
    deadline: Deadline | None
    history: list[ApplicationEvent]


class Me(Wire):
    """Your identity at this service, and the key that identifies you."""

    id: Identifier
    name: str
    role: Role
    auditor_id: Identifier | None
    key_thumbprint: str | None
    jwk: dict[str, Any] | None
    created_at: Instant
