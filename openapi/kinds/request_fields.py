"""Fields of requests: bins, ranges, rows of logs, noise, and who pays."""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.inputs import Input
from openapi.wire_model import MAX_EPSILON, Epsilon, Identifier, Rho, Wire

MAX_BINS = 1_000
MAX_ROWS = 100

Score = Annotated[float, Field(allow_inf_nan=False)]
ContextValue = Annotated[str, Field(max_length=100)] | Score
Name = Annotated[str, Field(min_length=1, max_length=100)]

# Fields of several kinds, each with its title, help text and form.
Context = Annotated[
    dict[Name, ContextValue],
    Field(
        title="Context",
        description="Variables of the feed, by name, that are fixed at one value for everybody.",
        max_length=32,
    ),
    Input("context"),
]
ContentId = Annotated[
    Identifier,
    Field(title="Content", description="The content whose relevance is scored."),
    Input("content", name="content"),
]
CountEpsilon = Annotated[
    Epsilon,
    Field(
        title="Privacy ε",
        description="Noise falls as ε grows, and the price rises with it. At most six decimals.",
    ),
    Input(default="1"),
]
ExtraEpsilon = Annotated[
    Decimal, Field(ge=0, le=MAX_EPSILON, decimal_places=6, allow_inf_nan=False)
]
ScoreColumn = Annotated[
    Name,
    Field(title="Column of scores", description="The log's column that holds the score."),
    Input("column", among="numbers"),
]
OutcomeColumn = Annotated[
    Name,
    Field(title="Column of outcomes", description="The log's column that holds the outcome."),
    Input("column", among="numbers"),
]


class Range(Wire):
    """A public range of numbers."""

    low: Score
    high: Score


class Edges(Wire):
    """Bins [e0, e1), [e1, e2), …, of which the last is closed. Scores outside count in
    `outside`.
    """

    edges: Annotated[
        list[Score], Field(min_length=2, max_length=MAX_BINS + 1, examples=[[0, 0.25, 0.5, 1]])
    ]


class Levels(Wire):
    """One bin for each value of a discrete score. Any other score counts in `outside`."""

    levels: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS, examples=[[1, 2, 3]])]


ScoreBins = Annotated[
    Edges | Levels,
    Field(
        title="Bins of scores",
        description="Number of equal bins over the range of scores, or their edges: 0,0.5,1"
        " (default: what people and noise carry, finer at the top).",
    ),
    Input("bins", over="scores", default=None),
]
OutcomeRange = Annotated[
    Range,
    Field(
        title="Range of outcomes",
        description="Low and high; outcomes beyond them are clipped (default: the column's range).",
    ),
    Input("range", field="outcome", default=None),
]


class RequestFields(Wire):
    """Fields of every request: its audience, and the mandate that pays (default: the one in force
    that ends first).

    `exploration_loss` is the largest reward that people may lose because they are shown other
    content.
    """

    audience_id: Annotated[
        Identifier,
        Field(title="Audience", description="The audience whose people are counted."),
        Input("audience", name="audience"),
    ]
    mandate_id: Annotated[
        Identifier | None,
        Field(
            title="Mandate",
            description="The mandate that pays (default: the one in force that ends first).",
        ),
        Input("mandate", name="mandate"),
    ] = None

    @property
    def content_ids(self) -> tuple[str, ...]:
        return ()

    @property
    def exploration_loss(self) -> Decimal:
        return Decimal(0)


class EitherNoise(RequestFields):
    """Laplace noise at an `epsilon`, or Gaussian noise at a `rho`, which a mandate in rho pays."""

    mechanism: Annotated[
        Literal["discrete-laplace", "discrete-gaussian"],
        Field(
            title="Noise",
            description="Distribution of the noise (default: Laplace for ε, Gaussian for ρ, which a"
            " mandate in ρ pays).",
        ),
        Input(default=None),
    ] = "discrete-laplace"
    epsilon: Annotated[
        Epsilon | None,
        Field(
            title="Privacy ε",
            description="Noise falls as ε grows, and the price rises with it. At most six"
            " decimals (default: 1 for Laplace noise).",
        ),
    ] = None
    rho: Annotated[
        Rho | None,
        Field(title="Privacy ρ", description="Takes the place of ε for Gaussian noise."),
    ] = None

    @model_validator(mode="after")
    def _one_currency(self) -> Self:
        gaussian = self.mechanism == "discrete-gaussian"
        needed, other = ("rho", "epsilon") if gaussian else ("epsilon", "rho")
        if getattr(self, needed) is None:
            raise ValueError(f"{self.mechanism} needs {needed}")
        if any(getattr(self, name, None) is not None for name in (other, f"size_{other}")):
            raise ValueError(f"{self.mechanism} takes only {needed} and size_{needed}")
        return self


class LogRows(Wire):
    """Rows of a log: the rows that count, and the largest number per person.

    A row counts if each column in `where` has one of the given values (see `logs` in the
    catalogue). At most `rows_per_person` rows of each person are drawn at random. So people have
    equal weight, not rows.
    """

    log: Annotated[
        Name,
        Field(title="Log", description="A log that the catalogue offers."),
        Input("log"),
    ]
    where: Annotated[
        dict[Name, Annotated[list[Name], Field(min_length=1, max_length=1_000)]],
        Field(
            title="Only rows where",
            description="Only rows whose column has one of these values.",
            max_length=32,
        ),
        Input("where"),
    ] = {}
    rows_per_person: Annotated[
        int,
        Field(
            title="Rows of one person",
            description=(
                "Largest number of counted rows of one person, drawn at random. Noise grows "
                "with it."
            ),
            ge=1,
            le=MAX_ROWS,
        ),
    ] = 1


class LogFields(LogRows, RequestFields):
    """Rows of a log, of the people of an audience."""
