"""Equal opportunity: rows of a feed, by traffic and creators."""

from itertools import product
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Size
from tests.privacy_audit.sensitivity.kinds.rows import (
    NOISES,
    is_sampled,
    larger,
    others_with_rows,
    with_rows,
)
from tests.privacy_audit.sensitivity.options import GAUSSIAN, LAPLACE, Option, audiences, worlds

ROWS = st.tuples(
    st.sampled_from([0.0, 0.4, 1.0, 7.0, None]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["default", "new", "random", "other"]),
    st.sampled_from(["young", "old"]),
    st.sampled_from(["1", "2"]),
)


def options(size: Size) -> list[Option]:
    base: dict[str, Any] = {
        "log": "feed",
        "signals": ["like"],
        "creators": "creator",
        "groups": ["young", "old"],
        "strategies": ["default"],
    }
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
        "two signals": {"signals": ["like", "share"], "epsilon": "2"},
        "two strategies": {"strategies": ["default", "new"]},
        "by day": {"days": ["1", "2"]},
        "creators turned round": {"groups": ["old", "young"]},
        "on the first day": {"where": {"day": ["1"]}},
        "Gaussian at 1": GAUSSIAN | {"rho": "1", "epsilon": None},
    }
    return [
        *found,
        *(_option(name, base | LAPLACE | each, upload, size) for name, each in changes.items()),
    ]


def _option(name: str, asked: Any, audience: SearchedAudience, size: Size) -> Option:
    most = asked.get("rows_per_person", 1)
    letters: list[Any] = [
        (like, 0.0, strategy, creator, "1")
        for like, strategy, creator in product((0.0, 1.0), ("default", "random"), ("young", "old"))
    ]
    letters.append((0.0, 1.0, "new", "old", "2"))
    few = letters if most == 1 else letters[::3]
    people = with_rows(audience, few, most)
    others = others_with_rows(audience, letters, most)
    look = worlds(audience, people, others, size)
    strategy, part = larger(audience, ROWS), is_sampled(most)
    return Option("reo", name, asked, audience, look, strategy, sampled=part)
