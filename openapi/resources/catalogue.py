"""Offers of the platform, in public numbers: kinds of audit, identifiers, samples, limits."""

from typing import Any, Literal

from openapi.kinds.kind_name import AuditKind
from openapi.kinds.request_fields import ContextValue
from openapi.resources.audiences import IdentifierKind, SupportedSource
from openapi.resources.contents import ContentKind
from openapi.resources.ledger import Number
from openapi.wire_model import Amount, Digest, Instant, Wire


class ScoreRange(Wire):
    low: float
    high: float


class SampleOffer(Wire):
    """Number of people who can be sampled: a public figure, not a live count."""

    attribute: str
    value: str
    available: int


class ContextField(Wire):
    """Temporal variable that is fixed at one value for the whole audience."""

    name: str
    values: list[ContextValue]
    default: ContextValue


class NumberColumn(Wire):
    name: str
    low: float
    high: float


class WordColumn(Wire):
    name: str
    values: list[str]


class TrafficOffer(Wire):
    """Meaning of the columns of a log of recommendations.

    `random` is the category in the column `strategy` for uniformly random items. It is absent if
    there are none. Without them, nobody can know how relevant content reached people.
    """

    strategy: str
    random: str | None
    signals: list[str]
    creators: list[str]
    day: str | None


class RankingOffer(Wire):
    """Sides of ranked lists that are people: the owners of lists, and those listed."""

    viewers: bool
    candidates: bool


class LogOffer(Wire):
    """A log: the people whose rows it has, whose privacy is accounted for, and its columns."""

    name: str
    person: str
    numbers: list[NumberColumn]
    words: list[WordColumn]
    model_digest: Digest | None
    traffic: TrafficOffer | None
    ranking: RankingOffer | None = None


class ExplorationOffer(Wire):
    """Exploration of other recommendations: the duration of a step, and the policies' digest.

    An audit of envy always lasts for all of its steps, whatever it finds.
    """

    step_seconds: float
    policies_digest: Digest


class Limits(Wire):
    members_per_audience: int
    bytes_per_part: int
    rows_per_part: int = 2_000_000
    bins: int
    epsilon_per_audit: Amount
    rho_per_person: Amount
    members_kept_days: int


class FieldNote(Wire):
    """A field of a request, of a release or of a content."""

    name: str
    type: str
    required: bool
    meaning: str


class KindNote(Wire):
    """A kind of audit: its question, the audiences that it supports, its request and its release.

    An audience of any other source is refused before anything is charged.
    """

    kind: AuditKind
    question: str
    sources: list[SupportedSource] = []
    asks: list[FieldNote]
    releases: list[FieldNote]


class IdentifierNote(Wire):
    kind: IdentifierKind
    form: str


class AttributeNote(Wire):
    """Attribute that people declared to the platform, and by which samples are drawn."""

    name: str
    values: list[str]


class Codebook(Wire):
    """Definitions of the catalogue's terms, generated from the running code [DR, Article 15(2)]."""

    unit_of_privacy: str
    kinds: list[KindNote]
    content: list[FieldNote]
    identifiers: list[IdentifierNote]
    attributes: list[AttributeNote]


class Change(Wire):
    """Ledger entry that changed an offer, or the model behind it."""

    number: Number
    at: Instant
    kind: Literal["settings", "model"]
    facts: dict[str, Any]


class Changelog(Wire):
    """Running version, and earlier changes, newest first."""

    version: str
    items: list[Change]
    next: str | None = None


class Catalogue(Wire):
    platform: str
    kinds: list[AuditKind]
    contents: list[ContentKind]
    identifiers: list[IdentifierKind]
    samples: list[SampleOffer]
    context: list[ContextField]
    score_range: ScoreRange
    model_digest: Digest | None
    logs: list[LogOffer] = []
    exploration: ExplorationOffer | None = None
    limits: Limits
    codebook: Codebook | None = None
