"""Contract of `score-histogram`: its request and its release."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.released import Released
from openapi.kinds.request_fields import (
    ContentId,
    Context,
    Edges,
    EitherNoise,
    ExtraEpsilon,
    Levels,
    ScoreBins,
)
from openapi.wire_model import Label, Wire, example


def _unsaid(value: object) -> bool:
    return value is None


# Left out where it is not said: requests and releases without it keep their bytes.
LeastShare = Annotated[
    Decimal | None,
    Field(gt=0, le=1, decimal_places=6, allow_inf_nan=False, exclude_if=_unsaid),
]


class ScoreHistogramRequest(EitherNoise):
    """Distribution of the platform's relevance scores in each group (paper 1).

    `epsilon` is the paper's parameter: the noise on each bin has scale groups_per_person / epsilon.
    `size_epsilon` buys a noisy number of scored people per group in addition to the bins (default:
    a quarter of `epsilon`; 0 for none). A known number is exact and costs nothing. With mechanism
    `discrete-gaussian`, `rho` and `size_rho` (default: a sixteenth of `rho`) take their place, and
    a mandate in rho pays. `least_share` is signed and moves no price: the analysis judges impact
    ratios by it and refuses another (default: 0.2).
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
    content_id: ContentId
    bins: ScoreBins
    size_epsilon: Annotated[
        ExtraEpsilon | None,
        Field(
            title="ε for the sizes of groups",
            description="Buys noisy numbers of scored people (default: a quarter of ε; 0 for"
            " none).",
        ),
    ] = None
    size_rho: Annotated[
        ExtraEpsilon | None,
        Field(
            title="ρ for the sizes of groups",
            description="Takes the place of the ε for sizes with Gaussian noise (default: a"
            " sixteenth of ρ; 0 for none).",
        ),
    ] = None
    least_share: Annotated[
        LeastShare,
        Field(
            title="Least share of an impact ratio",
            description="Impact ratios count above scores that at least this share of the"
            " best-served group may reach (default: 0.2). It is fixed by the request.",
        ),
    ] = None
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)


class GroupSize(Wire):
    """Number of scored people of a group, the denominator of every share.

    `noisy`: a count with its own noise. `known`: exact, because the number is public (a platform's
    sample, or participants who confirmed). `bins`: not bought; the sum of the bins is used.
    """

    kind: Literal["noisy", "known", "bins"]
    value: int | None = None


class GroupHistogram(Wire):
    """Noisy counts of one group: per bin and outside all bins. They may be negative."""

    label: Label
    counts: list[int]
    outside: int
    size: GroupSize


class ScoreHistogramRelease(Released):
    kind: Literal["score-histogram"]
    bins: Edges | Levels
    groups: list[GroupHistogram]
    least_share: LeastShare = None


KIND = KindContract(
    "score-histogram",
    ScoreHistogramRequest,
    ScoreHistogramRelease,
    title="Scores by group",
    reads="scores",
    counted_in="people",
    verdict=True,
)
