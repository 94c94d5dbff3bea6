"""Contract of `balance-histogram`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import MAX_BINS, CountEpsilon, RequestFields
from openapi.wire_model import Label, Wire, example


class ShareEdges(Wire):
    """Bins of shares of the lifetime cap, from 0 to 1, closed like those of scores."""

    edges: Annotated[
        list[Annotated[float, Field(ge=0, le=1)]],
        Field(min_length=2, max_length=MAX_BINS + 1, examples=[[0, 0.5, 0.9, 1]]),
    ]


class BalanceHistogramRequest(RequestFields):
    """Share of the lifetime cap that the people of each group have spent, for oversight.

    A mandate that names this kind pays for it, as for any other audit.
    """

    model_config = example(
        kind="balance-histogram",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        bins={"edges": [0, 0.25, 0.5, 0.75, 1]},
        epsilon="0.5",
    )

    kind: Literal["balance-histogram"]
    bins: Annotated[
        ShareEdges,
        Field(
            title="Bins of shares",
            description="Number of equal bins from none to all of the lifetime cap, or their edges:"
            " 0,0.5,0.9,1.",
        ),
        Input("bins", over="shares", default=10),
    ]
    epsilon: CountEpsilon


class GroupBalances(Wire):
    """Noisy counts of one group by share of the lifetime cap. They may be negative."""

    label: Label
    counts: list[int]
    outside: int


class BalanceHistogramRelease(Released):
    kind: Literal["balance-histogram"]
    bins: ShareEdges
    groups: list[GroupBalances]


KIND = KindContract(
    "balance-histogram",
    BalanceHistogramRequest,
    BalanceHistogramRelease,
    title="Privacy spent",
    reads="balances",
    counted_in="people",
)
