"""What can be asked: one request model per kind of audit."""

from decimal import Decimal
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, TypeAdapter, model_validator

from openapi.models.wire import MAX_EPSILON, Epsilon, Identifier, Rho, Wire, example

MAX_BINS = 1_000
MAX_CONTENTS = 100

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


class Asked(Wire):
    """What every request has: whose data, and who pays (the mandate in force that ends first)."""

    audience_id: Identifier
    mandate_id: Identifier | None = None


class ScoreHistogramRequest(Asked):
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
    mechanism: Literal["discrete-laplace", "discrete-gaussian"] = "discrete-laplace"
    epsilon: Epsilon | None = None
    size_epsilon: (
        Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]
        | None
    ) = None
    rho: Rho | None = None
    size_rho: (
        Annotated[Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)]
        | None
    ) = None
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)

    @model_validator(mode="after")
    def _one_currency(self) -> Self:
        gaussian = self.mechanism == "discrete-gaussian"
        needed, other = ("rho", "epsilon") if gaussian else ("epsilon", "rho")
        if getattr(self, needed) is None:
            raise ValueError(f"{self.mechanism} needs {needed}")
        if getattr(self, other) is not None or getattr(self, f"size_{other}") is not None:
            raise ValueError(f"{self.mechanism} takes {needed} and size_{needed} alone")
        return self


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

    @property
    def content_ids(self) -> tuple[str, ...]:
        return ()


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

    @property
    def content_ids(self) -> tuple[str, ...]:
        return ()


AnyRequest = (
    ScoreHistogramRequest
    | ScoreCdfRequest
    | MatchCountRequest
    | MostSkewedRequest
    | BalanceHistogramRequest
)
AuditRequest = Annotated[AnyRequest, Field(discriminator="kind")]
# One body of each kind, for the contract to show.
EXAMPLES: list[dict[str, Any]] = [
    model.model_json_schema()["examples"][0] for model in get_args(AnyRequest)
]
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AuditRequest)
