"""Cumulative counts of logged rows."""

from math import nan
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Size
from tests.privacy_audit.sensitivity.kinds.rows import (
    is_sampled,
    larger,
    others_with_rows,
    with_rows,
)
from tests.privacy_audit.sensitivity.options import Option, audiences, tree_attains, worlds

NUMBERS = st.one_of(st.floats(-1, 3), st.sampled_from([0.5, 1.0, 1.5, nan]), st.none())
ROWS = st.tuples(NUMBERS, NUMBERS, st.sampled_from([0.0, 1.0]), st.sampled_from(["north", "south"]))


def options(size: Size) -> list[Option]:
    bins = {"edges": [0.5, 1, 1.5, 1.9][: size.bins + 1]}
    base: dict[str, Any] = {"log": "jobs", "column": "score", "bins": bins, "epsilon": "1"}
    found = [
        _option(f"{rows} row(s), {source}", base | {"rows_per_person": rows}, audience, size)
        for source, audience in audiences(size).items()
        for rows in (1, 2)
        if rows == 1 or source != "confirmed"
    ]
    upload = audiences(size)["upload"]
    changes: dict[str, dict[str, Any]] = {
        "only north": {"where": {"place": ["north"]}},
        "outcomes": {"column": "outcome", "bins": {"edges": [0, 0.6]}, "epsilon": "0.5"},
        "another log": {"log": "items", "column": "rank", "bins": {"edges": [1, 2]}},
    }
    return [*found, *(_option(name, base | each, upload, size) for name, each in changes.items())]


def _option(name: str, asked: Any, audience: SearchedAudience, size: Size) -> Option:
    most = asked.get("rows_per_person", 1)
    if asked["log"] == "items":
        letters: list[Any] = [(0, 1, 1.0, 1.0), (0, 3, 1.0, 1.0)]
        rows: Any = st.tuples(st.just(0), st.integers(0, 4), st.just(1.0), st.just(1.0))
    else:
        numbers = [0.7, 1.2, 1.7][: size.bins]
        letters = [(score, score / 2, 0.0, "north") for score in (*numbers, 0.1)]
        letters.append((nan, nan, 0.0, "south"))
        rows = ROWS
    people = with_rows(audience, letters, most)
    others = others_with_rows(audience, letters, most)
    look = worlds(audience, people, others, size)
    attains = tree_attains(audience)
    return Option(
        "log-cdf",
        name,
        asked,
        audience,
        look,
        larger(audience, rows),
        attains,
        sampled=is_sampled(most),
    )
