"""What can be asked: one request model per kind of audit."""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, TypeAdapter, model_validator

from openapi.kinds.request_fields import (
    MAX_BINS,
    Asked,
    Context,
    Edges,
    EitherNoise,
    Levels,
    Name,
    OfLog,
    Range,
    Score,
)
from openapi.kinds.two_party import TwoPartyRequest
from openapi.wire_model import MAX_EPSILON, Epsilon, Identifier, Label, Wire, example

MAX_CONTENTS = 100
MAX_NAMES = 32
MAX_DAYS = 366
MAX_STEPS = 1_000_000
MAX_ARMS_PER_PERSON = 100


class ScoreHistogramRequest(EitherNoise):
    """How the platform's relevance scores are distributed in each group (paper 1).

    `epsilon` is the paper's parameter: the noise on each bin has scale groups_per_person / epsilon.
    `size_epsilon` buys a noisy number of scored people per group beside the bins (a quarter of
    `epsilon` unless told, 0 for none); where the number is known it is exact and costs nothing.
    With mechanism `discrete-gaussian`, `rho` (and `size_rho`, a sixteenth unless told) take their
    place, and a mandate in rho pays.
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
    bins: Edges | Levels
    size_epsilon: (
        Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]
        | None
    ) = None
    size_rho: (
        Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]
        | None
    ) = None
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)


class ScoreCdfRequest(Asked):
    """How many people score below each edge, in each group: paper 1's eq. 5, done privately."""

    model_config = example(
        kind="score-cdf",
        content_id="content_0193c2a5f0d1000000000000000001",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="1",
    )

    kind: Literal["score-cdf"]
    content_id: Identifier
    bins: Edges
    epsilon: Epsilon
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)


class MatchCountRequest(Asked):
    """How many people of each group the platform found, with noise."""

    model_config = example(
        kind="match-count",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        epsilon="0.5",
    )

    kind: Literal["match-count"]
    epsilon: Epsilon


class MostSkewedRequest(Asked):
    """Which of several contents is scored most differently between two groups.

    The skew of a content is the largest difference over bins of `weights`-ed counts; only which
    content has (about) the largest comes out, at the price of one release however many there are.
    """

    model_config = example(
        kind="most-skewed",
        contents=[
            "content_0193c2a5f0d1000000000000000001",
            "content_0193c2a5f0d1000000000000000003",
        ],
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="1",
    )

    kind: Literal["most-skewed"]
    contents: Annotated[list[Identifier], Field(min_length=2, max_length=MAX_CONTENTS)]
    bins: Edges | Levels
    epsilon: Epsilon
    weights: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1_000)], Annotated[int, Field(ge=1, le=1_000)]],
        Field(description="Of the two groups, to make up for unequal sizes, e.g. [2, 1]."),
    ] = (1, 1)
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return tuple(self.contents)


class ShareEdges(Wire):
    """Bins of shares of the lifetime cap, closed like those of scores, within 0 and 1."""

    edges: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(min_length=2, max_length=MAX_BINS + 1, examples=[[0, 0.5, 0.9, 1]]),
    ]


class BalanceHistogramRequest(Asked):
    """How much of the lifetime cap the people of each group have borne: for oversight.

    Pays like any other audit, from a mandate that names this kind.
    """

    model_config = example(
        kind="balance-histogram",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="0.5",
    )

    kind: Literal["balance-histogram"]
    bins: ShareEdges
    epsilon: Epsilon


class OutcomeTestRequest(OfLog, EitherNoise):
    """How equally scored people of each group turned out (paper 3), from logged opportunities.

    Per group and bin of the score: how many rows there are, and sums of outcomes, scores, their
    squares and their product, all with noise. Outcomes are cut to `outcome_range`, which must be
    within the column's public range. Rows outside of all bins are in no sum.
    """

    model_config = example(
        kind="outcome-test",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="instajob",
        bins={"edges": [0.5, 0.6, 0.7, 0.8, 0.9, 1]},
        outcome_range={"low": 0, "high": 1},
        epsilon="1",
    )

    kind: Literal["outcome-test"]
    score: Name = "score"
    outcome: Name = "outcome"
    bins: Edges
    outcome_range: Range


class Correction(Wire):
    """For one group, what to add in each bin."""

    label: Label
    add: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS)]


class BiasSizeRequest(OfLog, EitherNoise):
    """How opportunities would move if scores were corrected for a bias (paper 3, §4.1 and §4.2).

    In bin b of the score s the corrected score of group g is `slopes`[b] · s + add[b] of g, cut to
    `outcome_range`; scores beyond the bins are corrected as in the nearest one. Within each `query`
    (a job, a list) as many rows as had an opportunity, those with an `outcome`, have one again: the
    ones of the highest corrected score. With `places`, ranks within so many places are summed too.
    """

    model_config = example(
        kind="bias-size",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="instajob",
        bins={"edges": [0.5, 0.75, 1]},
        corrections=[{"label": "g0", "add": [0, 0]}, {"label": "g1", "add": [0.05, 0.02]}],
        outcome_range={"low": 0, "high": 1},
        epsilon="1",
    )

    kind: Literal["bias-size"]
    query: Name = "query"
    score: Name = "score"
    outcome: Name = "outcome"
    bins: Edges
    corrections: Annotated[list[Correction], Field(min_length=1, max_length=1_000)]
    slopes: Annotated[list[Score], Field(max_length=MAX_BINS)] | None = None
    outcome_range: Range
    places: Annotated[int, Field(ge=1, le=10_000)] | None = None

    @model_validator(mode="after")
    def _one_for_each_bin(self) -> Self:
        bins = len(self.bins.edges) - 1
        each = [correction.add for correction in self.corrections]
        if any(len(numbers) != bins for numbers in [*each, self.slopes or [0] * bins]):
            raise ValueError(f"corrections and slopes need one number for each of {bins} bins")
        return self


class LogCdfRequest(OfLog):
    """How many logged rows of each group are below each edge: to choose bins by quantiles."""

    model_config = example(
        kind="log-cdf",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="instajob",
        column="score",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="0.5",
    )

    kind: Literal["log-cdf"]
    column: Name
    bins: Edges
    epsilon: Epsilon


Names = Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)]
# Exact, since prices follow from it.
Share = Annotated[Decimal, Field(gt=0, le=1, decimal_places=6, allow_inf_nan=False)]
OwnEpsilon = Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]


class ReoRequest(OfLog, EitherNoise):
    """Whether relevant content reaches people whoever made it (paper 4), from a log of a feed.

    Counts rows, positive or not, by `groups` of creators (words of the column `creators`), for each
    of `strategies` on each of `days` (all days together if none is named), and for random traffic,
    without which the question has no answer. A row is positive if any of `signals` is.
    """

    model_config = example(
        kind="reo",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="feed",
        signals=["like_video", "share"],
        creators="young_adult",
        groups=["yes", "no"],
        strategies=["default"],
        epsilon="1",
    )

    kind: Literal["reo"]
    signals: Names
    creators: Name
    groups: Annotated[list[Name], Field(min_length=2, max_length=MAX_NAMES)]
    strategies: Names
    days: Annotated[list[Name], Field(max_length=MAX_DAYS)] = []


class EnvyFreenessRequest(Asked):
    """Whether people prefer their own recommendations to other people's (paper 2), by exploration.

    Each of at most `targets` people is shown the recommendations of `arms` others, for at most
    `steps` steps, until it is known whether some of these suit them better than their own, or none
    by more than `tolerance` (the paper's epsilon). They keep a share 1 - `alpha` of what they would
    have had: the loss, at most alpha · steps for each target, is charged to the mandate.

    One person takes part in the audits of at most `arms_per_person` targets, as the target of one
    at most and as an arm of the others. Everybody is covered in all of these roles, so noise grows
    in proportion. A request must have it, and must ask for the `probabilistic` criterion, with
    `gamma` and `lam`. Only audits of earlier versions lack it, or have the criterion `exact`.
    `epsilon` is that of the counts. `duration_epsilon` and `cost_epsilon` (default: a quarter of
    it; 0 for none) buy the sum of all steps and the reward that people lost.
    """

    model_config = example(
        kind="envy-freeness",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        alpha="0.2",
        tolerance="0.05",
        delta="0.05",
        gamma="0.2",
        lam="0.2",
        targets=21,
        arms=32,
        steps=5000,
        arms_per_person=1,
        epsilon="1",
    )

    kind: Literal["envy-freeness"]
    criterion: Literal["probabilistic", "exact"] = "probabilistic"
    bounds: Literal["tight", "printed"] = "tight"
    alpha: Share
    tolerance: Share
    delta: Annotated[Decimal, Field(gt=0, lt=0.5, decimal_places=6, allow_inf_nan=False)]
    gamma: Annotated[Share, Field(lt=1)] | None = None
    lam: Annotated[Share, Field(lt=1)] | None = None
    targets: Annotated[int, Field(ge=1, le=10_000)]
    arms: Annotated[int, Field(ge=1, le=10_000)]
    steps: Annotated[int, Field(ge=1, le=MAX_STEPS)]
    arms_per_person: Annotated[int, Field(ge=1, le=MAX_ARMS_PER_PERSON)] | None = None
    epsilon: Epsilon
    duration_epsilon: OwnEpsilon | None = None
    cost_epsilon: OwnEpsilon | None = None

    @property
    def exploration_loss(self) -> Decimal:
        return self.alpha * self.steps * self.targets

    @model_validator(mode="after")
    def _of_one_criterion(self) -> Self:
        if self.criterion == "probabilistic" and (self.gamma is None or self.lam is None):
            raise ValueError("the probabilistic criterion needs gamma and lam")
        if self.criterion == "exact" and (self.gamma is not None or self.lam is not None):
            raise ValueError("the exact criterion takes neither gamma nor lam")
        if self.criterion == "exact" and self.arms_per_person is not None:
            raise ValueError("by the exact criterion everybody is an arm of everybody else")
        return self


AnyRequest = (
    ScoreHistogramRequest
    | ScoreCdfRequest
    | MatchCountRequest
    | MostSkewedRequest
    | BalanceHistogramRequest
    | OutcomeTestRequest
    | LogCdfRequest
    | BiasSizeRequest
    | ReoRequest
    | EnvyFreenessRequest
    | TwoPartyRequest
)
AuditRequest = Annotated[AnyRequest, Field(discriminator="kind")]
# One body of each kind, for the contract to show.
EXAMPLES: list[dict[str, Any]] = [
    model.model_json_schema()["examples"][0] for model in get_args(AnyRequest)
]
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AuditRequest)
