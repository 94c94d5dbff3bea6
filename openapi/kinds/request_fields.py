"""What requests are made of: bins, ranges, rows of logs, noise, and who pays."""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.wire_model import Epsilon, Identifier, Rho, Wire

MAX_BINS = 1_000
MAX_ROWS = 100

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


class RequestFields(Wire):
    """What every request has: whose data, and who pays (the mandate in force that ends first).

    `exploration_loss` is what people may lose by being shown something else, in units of reward.
    """

    audience_id: Identifier
    mandate_id: Identifier | None = None

    @property
    def content_ids(self) -> tuple[str, ...]:
        return ()

    @property
    def exploration_loss(self) -> Decimal:
        return Decimal(0)


class EitherNoise(RequestFields):
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


class LogRows(Wire):
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


class LogFields(LogRows, RequestFields):
    """Rows of a log, of the people of an audience."""
