"""Score histograms and cumulative counts of scores."""

from itertools import product
from math import nan
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Size
from api.operations.sensitivity.people import Human
from tests.privacy_audit.sensitivity.options import (
    CONTENT_ID,
    EXACT,
    GAUSSIAN,
    LAPLACE,
    Option,
    audiences,
    memberships,
    tree_attains,
    worlds,
)


def edges(size: Size) -> dict[str, Any]:
    return {"edges": list(range(size.bins + 1))}


def scored(audience: SearchedAudience, size: Size, contents: int = 1) -> list[Human]:
    """Everybody one can be: in these groups, with a score in any bin, or outside of all."""
    values = [*(number + 0.5 for number in range(size.bins)), nan]
    return [
        Human(groups, scores=each)
        for groups in memberships(audience)
        for each in product(values, repeat=contents)
    ]


def any_score() -> st.SearchStrategy[float]:
    return st.one_of(st.floats(-1, 4), st.sampled_from([0.0, 1.0, 2.0, nan]))


def larger(audience: SearchedAudience) -> st.SearchStrategy[Human]:
    groups = st.sampled_from(memberships(audience))
    return st.builds(Human, groups, scores=st.tuples(any_score(), any_score()))


def histograms(size: Size) -> list[Option]:
    extras: dict[str, dict[str, Any]] = {
        "Laplace": LAPLACE,
        "Gaussian": GAUSSIAN,
        "Laplace, sizes at 0.5": LAPLACE | {"size_epsilon": "0.5"},
        "Laplace, no sizes": LAPLACE | {"size_epsilon": "0"},
        "Gaussian, sizes at 0.2": GAUSSIAN | {"size_rho": "0.2"},
        "levels": LAPLACE | {"bins": {"levels": [n + 0.5 for n in range(size.bins)]}},
        "at night": LAPLACE | {"context": {"hour": "night"}},
    }
    base = {"content_id": CONTENT_ID, "bins": edges(size)}
    return [
        _option("score-histogram", f"{name}, {source}", base | extra, audience, size)
        for name, extra in extras.items()
        for source, audience in audiences(size).items()
        if name in ("Laplace", "Gaussian") or source == "upload"
    ]


def cdfs(size: Size) -> list[Option]:
    base = {"content_id": CONTENT_ID, "bins": edges(size), "epsilon": "1"}
    found = [
        _option("score-cdf", source, base, audience, size)
        for source, audience in audiences(size).items()
    ]
    upload = audiences(size)["upload"]
    one_bin = base | {"bins": {"edges": [0, 3]}, "epsilon": "0.1"}
    night = base | {"context": {"hour": "night"}}
    many = base | {"bins": {"edges": [number / 4 for number in range(13)]}}
    return [
        *found,
        _option("score-cdf", "one bin", one_bin, upload, size),
        _option("score-cdf", "at night", night, upload, size),
        _option("score-cdf", "13 leaves", many, upload, size),
    ]


def _option(kind: str, name: str, asked: Any, audience: SearchedAudience, size: Size) -> Option:
    humans = scored(audience, size)
    attains = tree_attains(audience) if kind == "score-cdf" else EXACT
    look = worlds(audience, humans, humans, size)
    return Option(kind, name, asked, audience, look, larger(audience), attains)
