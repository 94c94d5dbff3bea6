"""Contract of `outcome-test`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import (
    Edges,
    EitherNoise,
    LogFields,
    Name,
    OutcomeColumn,
    OutcomeRange,
    Range,
    ScoreColumn,
)
from openapi.wire_model import Label, Wire, example


class OutcomeTestRequest(LogFields, EitherNoise):
    """Outcomes of equally scored people of each group (paper 3), from logged opportunities.

    The release has, per group and bin of the score, the number of rows, and sums of outcomes,
    scores, their squares and their product, all with noise. Outcomes are clipped to
    `outcome_range`, which must be within the column's public range. Rows outside all bins are in no
    sum.
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
    score: ScoreColumn = "score"
    outcome: OutcomeColumn = "outcome"
    bins: Annotated[
        Edges,
        Field(
            title="Bins of scores",
            description="Number of equal bins over the score's range, or their edges: 0,0.5,1.",
        ),
        Input("bins", over="column", field="score", default=10),
    ]
    outcome_range: OutcomeRange


class GroupMoments(Wire):
    """Noisy sums over the rows of one group, one for each bin, in fixed point: see `MomentUnits`.

    The sums are of 1, v, u, u², u·v and v², where u is the score, from -1 at the low to 1 at the
    high end of its bin, and v the outcome, from -1 at the low to 1 at the high end of its range.
    """

    label: Label
    count: list[int]
    outcome: list[int]
    score: list[int]
    score_squared: list[int]
    score_outcome: list[int]
    outcome_squared: list[int]


class MomentUnits(Wire):
    """Number of units in one, for each sum; the noise is the same number of units on each."""

    count: Annotated[int, Field(gt=0)]
    outcome: Annotated[int, Field(gt=0)]
    score: Annotated[int, Field(gt=0)]
    score_squared: Annotated[int, Field(gt=0)]
    score_outcome: Annotated[int, Field(gt=0)]
    outcome_squared: Annotated[int, Field(gt=0)]


class OutcomeTestRelease(Released):
    kind: Literal["outcome-test"]
    log: Name
    bins: Edges
    outcome_range: Range
    rows_per_person: int
    units: MomentUnits
    groups: list[GroupMoments]


KIND = KindContract(
    "outcome-test",
    OutcomeTestRequest,
    OutcomeTestRelease,
    title="Outcome test",
    reads="logs",
    verdict=True,
)
