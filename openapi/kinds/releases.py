"""What comes out: one release model per kind of audit, each with the platform's receipt."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from openapi.kinds.request_fields import Edges, Levels, Name, Range
from openapi.kinds.requests import Correction, Share, ShareEdges
from openapi.kinds.two_party import SoftMetric
from openapi.prices import Price
from openapi.wire_model import Digest, Identifier, Instant, Label, Wire


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


class GroupMoments(Wire):
    """Noisy sums over the rows of one group, one for each bin, in fixed point: see `MomentUnits`.

    Of 1, v, u, u², u·v and v², where u is the score, from -1 at the low to 1 at the high end of its
    bin, and v the outcome, from -1 at the low to 1 at the high end of its range.
    """

    label: Label
    count: list[int]
    outcome: list[int]
    score: list[int]
    score_squared: list[int]
    score_outcome: list[int]
    outcome_squared: list[int]


class MomentUnits(Wire):
    """Into how many units one is divided, by sum: noise is the same number of units on each."""

    count: Annotated[int, Field(gt=0)]
    outcome: Annotated[int, Field(gt=0)]
    score: Annotated[int, Field(gt=0)]
    score_squared: Annotated[int, Field(gt=0)]
    score_outcome: Annotated[int, Field(gt=0)]
    outcome_squared: Annotated[int, Field(gt=0)]


class TrafficCounts(Wire):
    """Noisy numbers of rows by group of creators, in the request's order. They may be negative.

    Of a strategy, on a day or on all days together; of random traffic where no strategy is named.
    """

    strategy: Name | None
    day: Name | None
    negatives: list[int]
    positives: list[int]


class GroupTraffics(Wire):
    """The rows of one group of viewers: each strategy and day, and at last random traffic."""

    label: Label
    traffics: list[TrafficCounts]


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


class OutcomeTestRelease(Released):
    kind: Literal["outcome-test"]
    log: Name
    bins: Edges
    outcome_range: Range
    rows_per_person: int
    units: MomentUnits
    groups: list[GroupMoments]


class GroupMoved(Wire):
    """Of one group: how many rows have an opportunity, and the sum of their ranks, if asked for."""

    label: Label
    given: int
    corrected: int
    given_ranks: int | None = None
    corrected_ranks: int | None = None


class BiasSizeRelease(Released):
    """Who has an opportunity, as it was and corrected, with noise. `unit` units are one.

    `outcome` is a sum over all who had one, from 0 at the low to 1 at the high end of its range;
    `corrected_outcome`, over all who would have one, that of their corrected scores. Of ranks,
    `unit` units are as many as `places`.
    """

    kind: Literal["bias-size"]
    log: Name
    bins: Edges
    corrections: list[Correction]
    slopes: list[float] | None
    outcome_range: Range
    places: int | None
    rows_per_person: int
    unit: Annotated[int, Field(gt=0)]
    outcome: int
    corrected_outcome: int
    groups: list[GroupMoved]


class LogCdfRelease(Released):
    kind: Literal["log-cdf"]
    log: Name
    column: Name
    bins: Edges
    rows_per_person: int
    groups: list[GroupCdf]


class ReoRelease(Released):
    """`groups` are those of the audience, `creator_groups` what counts are by."""

    kind: Literal["reo"]
    log: Name
    signals: list[Name]
    creators: Name
    creator_groups: list[Name]
    strategies: list[Name]
    days: list[Name]
    rows_per_person: int
    groups_per_person: int
    groups: list[GroupTraffics]


class EnvyFreenessRelease(Released):
    """How many targets envy somebody (`envious`), and how many nobody by more than `tolerance`.

    All numbers have noise. What is left of `targets` was undecided at the ceiling of `steps`,
    withdrew, or was nobody: not everybody matches. `duration` is the sum of everybody's steps;
    `cost` the reward that they lost by exploring, as far as rewards tell, each within -steps and
    steps, where `unit` units are 1. Each verdict is right with probability 1 - `level`. Releases of
    earlier versions may lack `arms_per_person`, or have the criterion `exact`: their `rules` say
    that people are not covered as arms.
    """

    kind: Literal["envy-freeness"]
    criterion: Literal["probabilistic", "exact"]
    bounds: Literal["tight", "printed"]
    alpha: Share
    tolerance: Share
    delta: Share
    gamma: Share | None
    lam: Share | None
    targets: int
    arms: int
    steps: int
    arms_per_person: int | None
    level: float
    envious: int
    no_envy: int
    duration: int | None
    cost: int | None
    unit: Annotated[int, Field(gt=0)]


class TwoPartyRelease(Released):
    """What the parties computed, and the hash of all they said. The sums are in it, encrypted.

    Sums are of `hidden_groups` by `cells`, over `rows` rows of the upload that found somebody.
    """

    kind: Literal["two-party"]
    metric: SoftMetric
    hidden_groups: int
    weight_scale: int
    rows: int
    cells: list[str]
    transcript: Digest


AnyRelease = (
    ScoreHistogramRelease
    | ScoreCdfRelease
    | MatchCountRelease
    | MostSkewedRelease
    | BalanceHistogramRelease
    | OutcomeTestRelease
    | LogCdfRelease
    | BiasSizeRelease
    | ReoRelease
    | EnvyFreenessRelease
    | TwoPartyRelease
)
Release = Annotated[AnyRelease, Field(discriminator="kind")]
RELEASE: TypeAdapter[AnyRelease] = TypeAdapter(Release)
