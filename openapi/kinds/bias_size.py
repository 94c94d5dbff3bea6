"""Contract of `bias-size`: its request and its release."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.contract import KindContract
from openapi.kinds.released import Released
from openapi.kinds.request_fields import MAX_BINS, Edges, EitherNoise, LogFields, Name, Range, Score
from openapi.wire_model import Label, Wire, example


class Correction(Wire):
    """For one group, what to add in each bin."""

    label: Label
    add: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS)]


class BiasSizeRequest(LogFields, EitherNoise):
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


KIND = KindContract(
    "bias-size",
    BiasSizeRequest,
    BiasSizeRelease,
    title="Size of a bias",
    reads="logs",
)
