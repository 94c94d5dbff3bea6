"""What comes out: one release model per kind of audit, each with the platform's receipt."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from openapi.models.prices import Price
from openapi.models.requests import Edges, Levels, ShareEdges
from openapi.models.wire import Digest, Identifier, Instant, Label, Wire


class GroupSize(Wire):
    """The number of scored people of a group, the denominator of every share.

    `noisy`: a count with noise of its own. `known`: exact, because the number is public (a
    platform's sample, or participants who confirmed). `bins`: not bought; the bins' sum must do.
    """

    kind: Literal["noisy", "known", "bins"]
    value: int | None = None


class GroupHistogram(Wire):
    """Noisy counts of one group: per bin and outside of all bins. They may be negative."""

    label: Label
    counts: list[int]
    outside: int
    size: GroupSize


class GroupCdf(Wire):
    """Noisy running counts of one group: up to the end of each bin, then everybody."""

    label: Label
    cumulative: list[float]


class GroupCount(Wire):
    label: Label
    count: int


class GroupBalances(Wire):
    """Noisy counts of one group by share of the lifetime cap. They may be negative."""

    label: Label
    counts: list[int]
    outside: int


class Released(Wire):
    """What every release states; the receipt is a compact JWS over all other fields."""

    audit_id: Identifier
    content_digests: list[Digest]
    audience_commitment: Digest
    model_digest: Digest | None
    price: Price
    rules: list[str]
    released_at: Instant
    receipt: str


class ScoreHistogramRelease(Released):
    kind: Literal["score-histogram"]
    bins: Edges | Levels
    groups: list[GroupHistogram]


class ScoreCdfRelease(Released):
    kind: Literal["score-cdf"]
    bins: Edges
    groups: list[GroupCdf]


class MatchCountRelease(Released):
    kind: Literal["match-count"]
    groups: list[GroupCount]


class MostSkewedRelease(Released):
    """`chosen` is the number, from 0, of the content in the request."""

    kind: Literal["most-skewed"]
    chosen: int
    chosen_digest: Digest


class BalanceHistogramRelease(Released):
    kind: Literal["balance-histogram"]
    bins: ShareEdges
    groups: list[GroupBalances]


AnyRelease = (
    ScoreHistogramRelease
    | ScoreCdfRelease
    | MatchCountRelease
    | MostSkewedRelease
    | BalanceHistogramRelease
)
Release = Annotated[AnyRelease, Field(discriminator="kind")]
RELEASE: TypeAdapter[AnyRelease] = TypeAdapter(Release)
