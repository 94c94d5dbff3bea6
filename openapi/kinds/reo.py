"""Contract of `reo`: its request and its release."""

from typing import Annotated, Literal

from pydantic import Field

from openapi.kinds.contract import KindContract
from openapi.kinds.inputs import Input
from openapi.kinds.released import Released
from openapi.kinds.request_fields import EitherNoise, LogFields, Name
from openapi.wire_model import Label, Wire, example

MAX_NAMES = 32
MAX_DAYS = 366
Names = Annotated[list[Name], Field(min_length=1, max_length=MAX_NAMES)]


class ReoRequest(LogFields, EitherNoise):
    """Reach of relevant content by its creators' group (paper 4), from a log of a feed.

    The audit counts rows, positive or not, by `groups` of creators (values of the column
    `creators`). It counts for each of `strategies` on each of `days` (default: all days together),
    and for random traffic, without which there is no answer. A row is positive if any of `signals`
    is.
    """

    model_config = example(
        kind="reo",
        audience_id="audience_0193c2a5f0d1000000000000000002",
        log="feed",
        signals=["like_video", "share"],
        creators="young_adult",
        groups=["yes", "no"],
        strategies=["default"],
        epsilon="1",
    )

    kind: Literal["reo"]
    signals: Annotated[
        Names,
        Field(
            title="Signals",
            description="A row is positive if any of these signals is: like,share (default: all).",
        ),
        Input("words", among="signals", default=None),
    ]
    creators: Annotated[
        Name,
        Field(
            title="Groups of creators",
            description="The log's column with the group of the shown content's creator.",
        ),
        Input("column", among="creators"),
    ]
    groups: Annotated[
        list[Name],
        Field(
            title="Groups to compare",
            description="Values of the creators' column (default: all).",
            min_length=2,
            max_length=MAX_NAMES,
        ),
        Input("words", among="values", field="creators", default=None),
    ]
    strategies: Annotated[
        Names,
        Field(
            title="Strategies",
            description=(
                "Each strategy is compared with random traffic: default,new (default: all)."
            ),
        ),
        Input("words", among="strategies", default=None),
    ]
    days: Annotated[
        list[Name],
        Field(
            title="Days to tell apart",
            description="Names of days, or all (default: days are counted together).",
            max_length=MAX_DAYS,
        ),
        Input("words", among="days"),
    ] = []


class TrafficCounts(Wire):
    """Noisy numbers of rows by group of creators, in the request's order. They may be negative.

    The rows are those of a strategy on a day or on all days together; without a strategy, of random
    traffic.
    """

    strategy: Name | None
    day: Name | None
    negatives: list[int]
    positives: list[int]


class GroupTraffics(Wire):
    """Rows of one group of viewers: each strategy and day, and random traffic at the end."""

    label: Label
    traffics: list[TrafficCounts]


class ReoRelease(Released):
    """Counts by traffic: `groups` are those of the audience, `creator_groups` those of creators."""

    kind: Literal["reo"]
    log: Name
    signals: list[Name]
    creators: Name
    creator_groups: list[Name]
    strategies: list[Name]
    days: list[Name]
    rows_per_person: int
    groups_per_person: int
    groups: list[GroupTraffics]


KIND = KindContract(
    "reo",
    ReoRequest,
    ReoRelease,
    title="Equal opportunity",
    reads="traffic",
    counted_in="rows",
    verdict=True,
)
