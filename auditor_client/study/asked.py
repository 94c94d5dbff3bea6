"""The audits of a study, one form per kind. Names of contents and audiences are the study's."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from auditor_client.asking import BALANCE_BINS
from auditor_client.requests import DEFAULT_BINS
from auditor_client.study.parts import Edge, Exact, MaybeExact, Name, Part, Words

Context = dict[Words, str | Edge]
Count = Annotated[int, Field(ge=1)]
Edges = Annotated[list[Edge], Field(min_length=2)]
Levels = Annotated[list[Edge], Field(min_length=1)]


class Asked(Part):
    """What all kinds say: of whom, and which mandate pays where there are several."""

    audience: Name
    mandate: Words | None = None

    @property
    def content_names(self) -> list[str]:
        return []


class Binned(Asked):
    """Bins by their number over the platform's range of scores, or by their edges."""

    bins: Count | Edges = DEFAULT_BINS
    context: Context = {}


class ScoreHistogram(Binned):
    kind: Literal["score-histogram"]
    content: Name
    levels: Levels | None = None
    mechanism: Literal["discrete-laplace", "discrete-gaussian"] = "discrete-laplace"
    epsilon: MaybeExact = None
    size_epsilon: MaybeExact = None
    rho: MaybeExact = None
    size_rho: MaybeExact = None

    @model_validator(mode="after")
    def _noise(self) -> "ScoreHistogram":
        gaussian = self.mechanism == "discrete-gaussian"
        wrong = (self.epsilon, self.size_epsilon) if gaussian else (self.rho, self.size_rho)
        if any(value is not None for value in wrong) or (gaussian and self.rho is None):
            raise ValueError("discrete-gaussian noise takes rho, discrete-laplace takes epsilon")
        if not gaussian and self.epsilon is None:
            raise ValueError("epsilon is missing: a study says how much noise there is")
        return self

    @property
    def content_names(self) -> list[str]:
        return [self.content]


class ScoreCdf(Binned):
    kind: Literal["score-cdf"]
    content: Name
    epsilon: Exact

    @property
    def content_names(self) -> list[str]:
        return [self.content]


class MostSkewed(Binned):
    kind: Literal["most-skewed"]
    contents: Annotated[list[Name], Field(min_length=2)]
    levels: Levels | None = None
    epsilon: Exact
    weights: Annotated[list[Count], Field(min_length=2, max_length=2)] = [1, 1]

    @property
    def content_names(self) -> list[str]:
        return self.contents


class MatchCount(Asked):
    kind: Literal["match-count"]
    epsilon: Exact


class BalanceHistogram(Asked):
    kind: Literal["balance-histogram"]
    bins: Count | Edges = BALANCE_BINS
    epsilon: Exact


AnyAsked = Annotated[
    ScoreHistogram | ScoreCdf | MostSkewed | MatchCount | BalanceHistogram,
    Field(discriminator="kind"),
]
