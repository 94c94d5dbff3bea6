"""The audits of a study, one form per kind. Names of contents and audiences are the study's."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from auditor_client.audits.request_builder import BALANCE_BINS
from auditor_client.kinds.building_blocks.log_options import CDF_BINS, OUTCOME_BINS
from auditor_client.kinds.options import DEFAULT_BINS
from auditor_client.studies.file_schema import Edge, Exact, MaybeExact, Name, StudyPart, Words

Context = dict[Words, str | Edge]
Count = Annotated[int, Field(ge=1)]
Edges = Annotated[list[Edge], Field(min_length=2)]
Levels = Annotated[list[Edge], Field(min_length=1)]
OutcomeRange = Annotated[list[Edge], Field(min_length=2, max_length=2)]


class StudyAudit(StudyPart):
    """What all kinds say: of whom, and which mandate pays where there are several."""

    audience: Name
    mandate: Words | None = None

    @property
    def content_names(self) -> list[str]:
        return []


class Binned(StudyAudit):
    """Bins by their number over the platform's range of scores, or by their edges."""

    bins: Count | Edges = DEFAULT_BINS
    context: Context = {}


class StudyNoise(StudyAudit):
    """Laplace noise at an epsilon, or Gaussian noise at a rho."""

    mechanism: Literal["discrete-laplace", "discrete-gaussian"] = "discrete-laplace"
    epsilon: MaybeExact = None
    rho: MaybeExact = None

    @model_validator(mode="after")
    def _noise(self) -> Self:
        gaussian = self.mechanism == "discrete-gaussian"
        other = ("epsilon", "size_epsilon") if gaussian else ("rho", "size_rho")
        wrong = any(getattr(self, name, None) is not None for name in other)
        if wrong or (gaussian and self.rho is None):
            raise ValueError("discrete-gaussian noise takes rho, discrete-laplace takes epsilon")
        if not gaussian and self.epsilon is None:
            raise ValueError("epsilon is missing: a study says how much noise there is")
        return self


class StudyScoreHistogram(Binned, StudyNoise):
    kind: Literal["score-histogram"]
    content: Name
    levels: Levels | None = None
    size_epsilon: MaybeExact = None
    size_rho: MaybeExact = None

    @property
    def content_names(self) -> list[str]:
        return [self.content]


class StudyScoreCdf(Binned):
    kind: Literal["score-cdf"]
    content: Name
    epsilon: Exact

    @property
    def content_names(self) -> list[str]:
        return [self.content]


class StudyMostSkewed(Binned):
    kind: Literal["most-skewed"]
    contents: Annotated[list[Name], Field(min_length=2)]
    levels: Levels | None = None
    epsilon: Exact
    weights: Annotated[list[Count], Field(min_length=2, max_length=2)] = [1, 1]

    @property
    def content_names(self) -> list[str]:
        return self.contents


class StudyMatchCount(StudyAudit):
    kind: Literal["match-count"]
    epsilon: Exact


class StudyBalanceHistogram(StudyAudit):
    kind: Literal["balance-histogram"]
    bins: Count | Edges = BALANCE_BINS
    epsilon: Exact


class StudyLogAudit(StudyAudit):
    """Rows of a log: those with one of these words, and at most so many of one person."""

    log: Words
    where: dict[Words, Annotated[list[Words], Field(min_length=1)]] = {}
    rows_per_person: Count = 1


class StudyOutcomeTest(StudyLogAudit, StudyNoise):
    """Its bins are edges, or equally wide: quantiles would be chosen after a look at the data."""

    kind: Literal["outcome-test"]
    score: Words = "score"
    outcome: Words = "outcome"
    bins: Count | Edges = OUTCOME_BINS
    outcome_range: OutcomeRange | None = None


class StudyBiasSize(StudyLogAudit, StudyNoise):
    """Scores are corrected by what `test`, an outcome test of the same study, releases."""

    kind: Literal["bias-size"]
    test: Name
    query: Words = "query"
    score: Words = "score"
    outcome: Words = "outcome"
    outcome_range: OutcomeRange | None = None
    places: Count | None = None

    def unfit(self, earlier: Mapping[str, StudyAudit]) -> str | None:
        """Why the audits before this one do not carry it."""
        test = earlier.get(self.test)
        if not isinstance(test, StudyOutcomeTest):
            return f"test: {self.test!r} must be an outcome-test that comes before it in the file"
        if (test.audience, test.log) != (self.audience, self.log):
            return f"test: {self.test!r} is of another audience, or another log"
        return None


class StudyLogCdf(StudyLogAudit):
    kind: Literal["log-cdf"]
    column: Words = "score"
    bins: Count | Edges = CDF_BINS
    epsilon: Exact


class StudyReo(StudyLogAudit, StudyNoise):
    """Signals, strategies and groups of creators are all that there are, unless told."""

    kind: Literal["reo"]
    creators: Words
    groups: Annotated[list[Words], Field(min_length=2)] | None = None
    signals: Annotated[list[Words], Field(min_length=1)] | None = None
    strategies: Annotated[list[Words], Field(min_length=1)] | None = None
    days: list[Words] | Literal["all"] = []


class StudyEnvyFreeness(StudyAudit):
    """People are shown what others are. Its delta is the share that the study leaves it. Targets,
    arms and arms_per_person are chosen by the audience's size where they are not given.
    """

    kind: Literal["envy-freeness"]
    steps: Count
    tolerance: Exact = "0.05"
    alpha: Exact = "0.2"
    criterion: Literal["probabilistic", "exact"] = "probabilistic"
    gamma: MaybeExact = None
    lam: MaybeExact = None
    bounds: Literal["tight", "printed"] = "tight"
    targets: Count | None = None
    arms: Count | None = None
    arms_per_person: Annotated[int, Field(ge=1, le=100)] | None = None
    epsilon: Exact
    duration_epsilon: MaybeExact = None
    cost_epsilon: MaybeExact = None

    @model_validator(mode="after")
    def _of_one_criterion(self) -> Self:
        if self.criterion == "exact":
            raise ValueError(
                "by the exact criterion one person could change everybody's outcome, so noise would"
                " hide all of it: take the probabilistic criterion, with gamma and lam"
            )
        if self.gamma is None or self.lam is None:
            raise ValueError("the probabilistic criterion needs gamma and lam, such as 0.1 each")
        return self


AnyStudyAudit = Annotated[
    StudyScoreHistogram
    | StudyScoreCdf
    | StudyMostSkewed
    | StudyMatchCount
    | StudyBalanceHistogram
    | StudyOutcomeTest
    | StudyBiasSize
    | StudyLogCdf
    | StudyReo
    | StudyEnvyFreeness,
    Field(discriminator="kind"),
]
