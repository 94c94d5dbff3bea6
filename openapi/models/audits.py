"""Audits: request, price, state and release."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openapi.models.wire import (
    MAX_EPSILON,
    Amount,
    Digest,
    Epsilon,
    Identifier,
    Instant,
    Label,
    Wire,
    example,
)

AuditKind = Literal["score-histogram"]
AuditState = Literal["charged", "running", "released", "failed", "cancelled"]
MAX_BINS = 1_000

Score = Annotated[float, Field(allow_inf_nan=False)]
ContextValue = Annotated[str, Field(max_length=100)] | Score
Context = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=100)], ContextValue], Field(max_length=32)
]


class Edges(Wire):
    """Bins [e0, e1), [e1, e2), …, the last one closed. Scores outside fall into `outside`."""

    edges: Annotated[
        list[Score], Field(min_length=2, max_length=MAX_BINS + 1, examples=[[0, 0.25, 0.5, 1]])
    ]


class Levels(Wire):
    """One bin for each value a discrete score can take. Any other score falls into `outside`."""

    levels: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS, examples=[[1, 2, 3]])]


class ScoreHistogramRequest(Wire):
    """How the platform's relevance scores are distributed in each group (paper 1).

    `epsilon` is the paper's parameter: the noise on each bin has scale groups_per_person / epsilon.
    `size_epsilon` buys a noisy number of scored people per group beside the bins (a quarter of
    `epsilon` unless told, 0 for none); where the number is known it is exact and costs nothing.
    """

    model_config = example(
        kind="score-histogram",
        content_id="content_0193c2a5f0d1000000000000000001",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="1",
        size_epsilon="0.25",
    )

    kind: Literal["score-histogram"] = "score-histogram"
    content_id: Identifier
    audience_id: Identifier
    bins: Edges | Levels
    epsilon: Epsilon
    size_epsilon: (
        Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]
        | None
    ) = None
    context: Context = {}
    mandate_id: Identifier | None = None


AuditRequest = ScoreHistogramRequest


class EpsilonPrice(Wire):
    """The same release under both relations of differential privacy."""

    add_remove: Amount
    change_one: Amount


class PricePart(Wire):
    """One noised block of a release: what it costs and how large its error is."""

    name: str
    mechanism: Literal["discrete-laplace"]
    scale: float
    epsilon: EpsilonPrice
    standard_deviation: float
    error_95: Annotated[int, Field(description="P(|noise| > error_95) ≤ 5 % for one cell.")]


class Price(Wire):
    """What an audit would cost; `debit`, the change-one price, is what the ledger charges."""

    epsilon: EpsilonPrice
    debit: Amount
    parts: list[PricePart]


class Quote(Wire):
    """A price, and what the mandate would have left. Asking spends nothing."""

    price: Price
    mandate_id: Identifier
    remaining_before: Amount
    remaining_after: Annotated[Decimal, Field(description="Negative when it is not covered.")]
    covered: bool


class Audit(Wire):
    id: Identifier
    kind: AuditKind
    state: AuditState
    mandate_id: Identifier
    request: AuditRequest
    price: Price
    submitted_at: Instant
    finished_at: Instant | None = None
    failure: str | None = None


class Progress(Wire):
    """One event of an audit's life. There is nothing else to see: progress is private (R2)."""

    audit_id: Identifier
    state: AuditState


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


class Release(Wire):
    """What an audit gives out: noisy counts, and the receipt that the platform signed for them."""

    audit_id: Identifier
    kind: AuditKind
    content_digest: Digest
    audience_commitment: Digest
    model_digest: Digest
    bins: Edges | Levels
    groups: list[GroupHistogram]
    price: Price
    rules: list[str]
    released_at: Instant
    receipt: Annotated[str, Field(description="Compact JWS over all of the above.")]
