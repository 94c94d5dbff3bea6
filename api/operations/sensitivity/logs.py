"""Logs of the small worlds: their public descriptions, and the types of their columns."""

from collections.abc import Mapping

import pyarrow as pa

from api.platforms.interfaces import VIEWER, Log, Ranking, Traffic

_UNIT = (0.0, 1.0)
_WIDE = (0.0, 2.0)
LOGS: Mapping[str, Log] = {
    # Opportunities of candidates: score, outcome (none without an opportunity), query, a category.
    "jobs": Log(
        "candidate",
        {"score": _WIDE, "outcome": _UNIT, "query": (0.0, 9.0)},
        {"place": ("north", "south")},
    ),
    # Content that viewers were shown.
    "feed": Log(
        VIEWER,
        {"like": _UNIT, "share": _UNIT},
        {"strategy": ("default", "new", "random"), "creator": ("young", "old"), "day": ("1", "2")},
        traffic=Traffic("strategy", "random", ("like", "share"), ("creator",), "day"),
    ),
    # Lists of viewers that contain people, lists of items, and lists without a viewer.
    "lists": Log(
        VIEWER,
        {"query": (0.0, 9.0), "rank": (1.0, 9.0), "relevance": _UNIT, "outcome": _UNIT},
        ranking=Ranking("query", "rank", "candidate"),
    ),
    "items": Log(
        VIEWER,
        {"query": (0.0, 9.0), "rank": (1.0, 9.0), "relevance": _UNIT, "outcome": _UNIT},
        ranking=Ranking("query", "rank"),
    ),
    "posts": Log(
        "candidate",
        {"query": (0.0, 9.0), "rank": (1.0, 9.0), "relevance": _UNIT, "outcome": _UNIT},
        ranking=Ranking("query", "rank"),
    ),
}
_COLUMNS = {
    "jobs": {"score": pa.float64(), "outcome": pa.float64(), "query": pa.float64()}
    | {"place": pa.string()},
    "feed": {"like": pa.float64(), "share": pa.float64()}
    | dict.fromkeys(("strategy", "creator", "day"), pa.string()),
    "lists": {"query": pa.int64(), "rank": pa.int64(), "candidate": pa.int64()}
    | dict.fromkeys(("relevance", "outcome"), pa.float64()),
    "items": {"query": pa.int64(), "rank": pa.int64()}
    | dict.fromkeys(("relevance", "outcome"), pa.float64()),
    "posts": {"query": pa.int64(), "rank": pa.int64()}
    | dict.fromkeys(("relevance", "outcome"), pa.float64()),
}


def columns_of(log: str) -> Mapping[str, pa.DataType]:
    """Return the columns of a row, in order."""
    return _COLUMNS[log]
