"""Contract of `log-cdf`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import GroupCdf, Released
from openapi.kinds.request_fields import CountEpsilon, Edges, LogFields, Name
from openapi.wire_model import example


class LogCdfRequest(LogFields):
    """Number of logged rows of each group below each edge, for example to choose bins by
    quantiles.
    """

    model_config = example(
        kind="log-cdf",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="instajob",
        column="score",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="0.5",
    )

    kind: Literal["log-cdf"]
    column: Annotated[
        Name,
        Field(title="Column", description="The log's numeric column that is counted."),
        Input("column", among="numbers", default="score"),
    ]
    bins: Annotated[
        Edges,
        Field(
            title="Bins",
            description="Number of equal bins over the column's range, or their edges: 0,0.5,1.",
        ),
        Input("bins", over="column", field="column", default=256),
    ]
    epsilon: CountEpsilon


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
