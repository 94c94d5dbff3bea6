"""Contract of `share-above`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.released import Released
from openapi.kinds.request_fields import ContentId, CountEpsilon, RequestFields, Score
from openapi.wire_model import Label, Wire, example


class ShareAboveRequest(RequestFields):
    """Which share of each group scores above a threshold."""

    model_config = example(
        kind="share-above",
        content_id="content_0193c2a5f0d1000000000000000001",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        threshold=0.5,
        epsilon="1",
    )

    kind: Literal["share-above"]
    content_id: ContentId
    threshold: Annotated[
        Score, Field(title="Threshold", description="People above this score are counted.")
    ] = 0.5
    epsilon: CountEpsilon

    @property
    def content_ids(self) -> tuple[str, ...]:
        return (self.content_id,)


class GroupShare(Wire):
    """Noisy numbers of people of one group above the threshold, and of all others."""

    label: Label
    above: int
    others: int


class ShareAboveRelease(Released):
    kind: Literal["share-above"]
    threshold: float
    groups: list[GroupShare]


KIND = KindContract(
    "share-above",
    ShareAboveRequest,
    ShareAboveRelease,
    title="Share above a threshold",
    reads="scores",
    counted_in="people",
    verdict=True,
)
