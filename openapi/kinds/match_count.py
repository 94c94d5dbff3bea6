"""Contract of `match-count`: its request and its release."""

from typing import Literal

from openapi.kinds.contract import KindContract
from openapi.kinds.released import Released
from openapi.kinds.request_fields import CountEpsilon, RequestFields
from openapi.wire_model import Label, Wire, example


class MatchCountRequest(RequestFields):
    """Number of people of each group that the platform found, with noise."""

    model_config = example(
        kind="match-count",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        epsilon="0.5",
    )

    kind: Literal["match-count"]
    epsilon: CountEpsilon


class GroupCount(Wire):
    """Noisy number of people of one group. It may be negative."""

    label: Label
    count: int


class MatchCountRelease(Released):
    kind: Literal["match-count"]
    groups: list[GroupCount]


KIND = KindContract(
    "match-count",
    MatchCountRequest,
    MatchCountRelease,
    title="People found",
    reads="matches",
    counted_in="people",
)
