"""Outcome tests: sums over logged opportunities, by group and bin of the score."""

from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Size
from tests.privacy_audit.sensitivity.kinds.log_cdf import ROWS
from tests.privacy_audit.sensitivity.kinds.rows import (
    NOISES,
    is_sampled,
    larger,
    others_with_rows,
    with_rows,
)
from tests.privacy_audit.sensitivity.options import (
    EXACT,
    GAUSSIAN,
    LAPLACE,
    Option,
    audiences,
    shares,
    worlds,
)

# A squared norm that holds for a change and, halved, for an addition: neither is attained.
_NEARLY = shares(0.9, 0.9)


def options(size: Size) -> list[Option]:
    bins = {"edges": [0.5, 1, 1.5, 1.9][: size.bins + 1]}
    base: dict[str, Any] = {"log": "jobs", "bins": bins, "outcome_range": {"low": 0, "high": 1}}
    found = [
        _option(
            f"{name}, {rows} row(s), {source}",
            base | noise | {"rows_per_person": rows},
            audience,
            size,
        )
        for source, audience in audiences(size).items()
        for name, noise, rows in NOISES
        if rows == 1 or source != "confirmed"
    ]
    upload = audiences(size)["upload"]
    changes: dict[str, dict[str, Any]] = {
        "only north": {"where": {"place": ["north"]}},
        "part of the range": {"outcome_range": {"low": 0.25, "high": 0.5}, "epsilon": "2"},
        "columns swapped": {"score": "outcome", "outcome": "score", "bins": {"edges": [0, 0.5]}},
        "another log": {
            "log": "items",
            "score": "rank",
            "outcome": "outcome",
            "bins": {"edges": [1, 2]},
        },
        "Gaussian at 1": GAUSSIAN | {"rho": "1", "epsilon": None},
    }
    return [
        *found,
        *(_option(name, base | LAPLACE | each, upload, size) for name, each in changes.items()),
    ]


def _option(name: str, asked: Any, audience: SearchedAudience, size: Size) -> Option:
    most = asked.get("rows_per_person", 1)
    if asked["log"] == "items":
        letters: list[Any] = [(0, rank, 1.0, worth) for rank in (1, 2) for worth in (0.0, 1.0)]
    else:
        ends = [(0.5, 0.0), (0.5, 1.0), (1.5, 0.0), (1.0, 1.0), (0.7, 0.5), (0.1, 1.0)]
        letters = [(score, worth, 0.0, "north") for score, worth in ends]
        letters = letters[:3] if most == 2 and not size.is_long else letters
        letters.append((0.5, 0.0, 0.0, "south"))
    people = with_rows(audience, letters, most)
    others = others_with_rows(audience, letters, most)
    look = worlds(audience, people, others, size)
    rows = ROWS if asked["log"] == "jobs" else None
    strategy = larger(audience, rows) if rows is not None else _items(audience)
    gaussian = asked.get("mechanism") == "discrete-gaussian"
    attains = _NEARLY if gaussian else EXACT
    part = is_sampled(most)
    return Option("outcome-test", name, asked, audience, look, strategy, attains, sampled=part)


def _items(audience: SearchedAudience) -> Any:
    row = st.tuples(st.just(0), st.integers(0, 4), st.floats(0, 1), st.floats(0, 1))
    return larger(audience, row)
