"""Contract of `log-cdf`: its request and its release."""

from typing import Literal

from openapi.kinds.contract import KindContract
from openapi.kinds.released import GroupCdf, Released
from openapi.kinds.request_fields import Edges, LogFields, Name
from openapi.wire_model import Epsilon, example


class LogCdfRequest(LogFields):
    """How many logged rows of each group are below each edge: to choose bins by quantiles."""

    model_config = example(
        kind="log-cdf",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="instajob",
        column="score",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="0.5",
    )

    kind: Literal["log-cdf"]
    column: Name
    bins: Edges
    epsilon: Epsilon


class LogCdfRelease(Released):
    kind: Literal["log-cdf"]
    log: Name
    column: Name
    bins: Edges
    rows_per_person: int
    groups: list[GroupCdf]


KIND = KindContract(
    "log-cdf",
    LogCdfRequest,
    LogCdfRelease,
    title="Numbers of a log",
    reads="logs",
    counted_in="rows",
)
