"""Contract of `bias-size`: its request and its release."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.outcome_test import KIND as OUTCOME_TEST
from openapi.kinds.released import Released
from openapi.kinds.request_fields import (
    MAX_BINS,
    Edges,
    EitherNoise,
    LogFields,
    Name,
    OutcomeColumn,
    OutcomeRange,
    Range,
    Score,
    ScoreColumn,
)
from openapi.wire_model import Label, Wire, example


class Correction(Wire):
    """Correction of one group: the number to add in each bin."""

    label: Label
    add: Annotated[list[Score], Field(min_length=1, max_length=MAX_BINS)]


class BiasSizeRequest(LogFields, EitherNoise):
    """Change of opportunities if scores were corrected for a bias (paper 3, §4.1 and §4.2).

    In bin b of the score s, the corrected score of group g is `slopes`[b] · s + add[b] of g,
    clipped to `outcome_range`. Scores outside the bins are corrected as in the nearest bin. Rows
    with an `outcome` had an opportunity. Within each `query` (a job, a list), the same number of
    rows has one again: those with the highest corrected scores. With `places`, ranks up to that
    position are summed too.
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
    query: Annotated[
        Name,
        Field(
            title="Column of queries",
            description="The log's column of jobs or lists within which opportunities move.",
        ),
        Input("column", among="columns"),
    ] = "query"
    score: ScoreColumn = "score"
    outcome: OutcomeColumn = "outcome"
    bins: Annotated[
        Edges,
        Field(title="Bins of scores", description="The bins of the corrections."),
        Input("set"),
    ]
    corrections: Annotated[
        list[Correction],
        Field(
            title="Outcome test",
            description="The released outcome test that determines the corrections of scores.",
            min_length=1,
            max_length=1_000,
        ),
        Input("audit", name="test", of=OUTCOME_TEST.name),
    ]
    slopes: Annotated[
        Annotated[list[Score], Field(max_length=MAX_BINS)] | None,
        Field(title="Slopes", description="Slopes of the corrected score, by bin."),
        Input("set"),
    ] = None
    outcome_range: OutcomeRange
    places: Annotated[
        Annotated[int, Field(ge=1, le=10_000)] | None,
        Field(
            title="Places",
            description="Also sum ranks within this number of places (default: no ranks).",
        ),
    ] = None

    @model_validator(mode="after")
    def _one_for_each_bin(self) -> Self:
        bins = len(self.bins.edges) - 1
        each = [correction.add for correction in self.corrections]
        if any(len(numbers) != bins for numbers in [*each, self.slopes or [0] * bins]):
            raise ValueError(f"corrections and slopes must have one number for each of {bins} bins")
        return self


class GroupMoved(Wire):
    """Counts of one group: rows with an opportunity, and the sum of their ranks if requested."""

    label: Label
    given: int
    corrected: int
    given_ranks: int | None = None
    corrected_ranks: int | None = None


class BiasSizeRelease(Released):
    """Opportunities of each group, before and after the correction, with noise; `unit` units are
    one.

    `outcome` is the sum over all rows that had one, from 0 at the low to 1 at the high end of its
    range. `corrected_outcome` is the sum of corrected scores over all rows that would have one. For
    ranks, `unit` units equal `places`.
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
