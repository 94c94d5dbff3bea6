"""Contract of `score-cdf`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import GroupCdf, Released
from openapi.kinds.request_fields import ContentId, Context, CountEpsilon, Edges, RequestFields
from openapi.wire_model import example


class ScoreCdfRequest(RequestFields):
    """Number of people who score below each edge, in each group (equation 5 of paper 1)."""

    model_config = example(
        kind="score-cdf",
        content_id="content_0193c2a5f0d1000000000000000001",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="1",
    )

    kind: Literal["score-cdf"]
    content_id: ContentId
    bins: Annotated[
        Edges,
        Field(
            title="Bins of scores",
            description="Number of equal bins over the range of scores, or their edges: 0,0.5,1"
            " (default: what people and noise carry, finer at the top).",
        ),
        Input("bins", over="scores", default=None),
    ]
    epsilon: CountEpsilon
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)


class ScoreCdfRelease(Released):
    kind: Literal["score-cdf"]
    bins: Edges
    groups: list[GroupCdf]


KIND = KindContract(
    "score-cdf",
    ScoreCdfRequest,
    ScoreCdfRelease,
    title="Cumulative scores",
    reads="scores",
    counted_in="people",
)
