"""What can be asked: one request model per kind of audit."""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, TypeAdapter, model_validator

from openapi.models.wire import MAX_EPSILON, Epsilon, Identifier, Label, Rho, Wire, example

MAX_BINS = 1_000
MAX_CONTENTS = 100
MAX_ROWS = 100
MAX_NAMES = 32
MAX_DAYS = 366

Score = Annotated[float, Field(allow_inf_nan=False)]
ContextValue = Annotated[str, Field(max_length=100)] | Score
Name = Annotated[str, Field(min_length=1, max_length=100)]
Context = Annotated[dict[Name, ContextValue], Field(max_length=32)]


class Range(Wire):
    """A public range of numbers."""

    low: Score
    high: Score


class Edges(Wire):
    """Bins [e0, e1), [e1, e2), …, the last one closed. Scores outside fall into `outside`."""

    edges: Annotated[
        list[Score], Field(min_length=2, max_length=MAX_BINS + 1, examples=[[0, 0.25, 0.5, 1]])
    ]


class Levels(Wire):
    """One bin for each value a discrete score can take. Any other score falls into `outside`."""

    levels: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS, examples=[[1, 2, 3]])]


class Asked(Wire):
    """What every request has: whose data, and who pays (the mandate in force that ends first)."""

    audience_id: Identifier
    mandate_id: Identifier | None = None

    @property
    def content_ids(self) -> tuple[str, ...]:
        return ()


class EitherNoise(Asked):
    """Laplace noise at an `epsilon`, or Gaussian noise at a `rho`, which a mandate in rho pays."""

    mechanism: Literal["discrete-laplace", "discrete-gaussian"] = "discrete-laplace"
    epsilon: Epsilon | None = None
    rho: Rho | None = None

    @model_validator(mode="after")
    def _one_currency(self) -> Self:
        gaussian = self.mechanism == "discrete-gaussian"
        needed, other = ("rho", "epsilon") if gaussian else ("epsilon", "rho")
        if getattr(self, needed) is None:
            raise ValueError(f"{self.mechanism} needs {needed}")
        if any(getattr(self, name, None) is not None for name in (other, f"size_{other}")):
            raise ValueError(f"{self.mechanism} takes {needed} and size_{needed} alone")
        return self


class OfLog(Asked):
    """What is asked of a log: which rows count, and at most how many of one person.

    Of everybody's rows for which each column in `where` has one of the words given (see `logs` in
    the catalogue), `rows_per_person` are drawn at random. People weigh alike, not rows.
    """

    log: Name
    where: Annotated[
        dict[Name, Annotated[list[Name], Field(min_length=1, max_length=1_000)]],
        Field(max_length=32),
    ] = {}
    rows_per_person: Annotated[int, Field(ge=1, le=MAX_ROWS)] = 1


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


class BiasSizeRequest(OfLog):
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
    epsilon: Epsilon

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
)
AuditRequest = Annotated[AnyRequest, Field(discriminator="kind")]
# One body of each kind, for the contract to show.
EXAMPLES: list[dict[str, Any]] = [
    model.model_json_schema()["examples"][0] for model in get_args(AnyRequest)
]
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AuditRequest)
