"""Fields that releases share."""

from openapi.prices import Price
from openapi.wire_model import Digest, Identifier, Instant, Label, Wire


class GroupCdf(Wire):
    """Noisy cumulative counts of one group: up to the end of each bin, then everybody."""

    label: Label
    cumulative: list[float]


class Released(Wire):
    """Fields of every release; the receipt is a compact JWS over all other fields."""

    audit_id: Identifier
    content_digests: list[Digest]
    audience_commitment: Digest
    model_digest: Digest | None
    price: Price
    rules: list[str]
    released_at: Instant
    receipt: str
