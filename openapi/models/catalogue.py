"""What the platform offers, in public numbers: kinds of audit, identifiers, samples, limits."""

from openapi.models.audiences import IdentifierKind
from openapi.models.audits import AuditKind
from openapi.models.contents import ContentKind
from openapi.models.requests import ContextValue
from openapi.models.wire import Amount, Digest, Wire


class ScoreRange(Wire):
    low: float
    high: float


class SampleOffer(Wire):
    """So many people may be sampled; a public figure, not a live count."""

    attribute: str
    value: str
    available: int


class ContextField(Wire):
    """A temporal variable that is frozen at one value for the whole audience."""

    name: str
    values: list[ContextValue]
    default: ContextValue


class Limits(Wire):
    members_per_audience: int
    bytes_per_part: int
    bins: int
    epsilon_per_audit: Amount
    rho_per_person: Amount
    members_kept_days: int


class Catalogue(Wire):
    platform: str
    kinds: list[AuditKind]
    contents: list[ContentKind]
    identifiers: list[IdentifierKind]
    samples: list[SampleOffer]
    context: list[ContextField]
    score_range: ScoreRange
    model_digest: Digest | None
    limits: Limits
