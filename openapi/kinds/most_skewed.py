"""Contract of `most-skewed`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import Context, CountEpsilon, RequestFields, ScoreBins
from openapi.wire_model import Digest, Identifier, example

MAX_CONTENTS = 100


class MostSkewedRequest(RequestFields):
    """Which of several contents is scored most differently between two groups.

    The skew of a content is the largest difference of counts, weighted by `weights`, over bins. The
    audit releases only the identity of a content with (about) the largest skew. The price is that
    of one release, however many contents there are.
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
    contents: Annotated[
        list[Identifier],
        Field(
            title="Contents",
            description="At least two: the answer is the one that is scored most differently.",
            min_length=2,
            max_length=MAX_CONTENTS,
        ),
        Input("contents"),
    ]
    bins: ScoreBins
    epsilon: CountEpsilon
    weights: Annotated[
        tuple[Annotated[int, Field(ge=1, le=1_000)], Annotated[int, Field(ge=1, le=1_000)]],
        Field(
            title="Weights of the two groups",
            description="Correct for unequal sizes: 2,1 if the second group is twice as large.",
        ),
    ] = (1, 1)
    context: Context = {}

    @property
    def content_ids(self) -> tuple[str, ...]:
        return tuple(self.contents)


class MostSkewedRelease(Released):
    """`chosen` is the number, from 0, of the content in the request."""

    kind: Literal["most-skewed"]
    chosen: int
    chosen_digest: Digest


KIND = KindContract(
    "most-skewed",
    MostSkewedRequest,
    MostSkewedRelease,
    title="Most skewed content",
    reads="scores",
    counted_in="people",
)
