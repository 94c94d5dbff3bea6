"""The size of a bias: lists in which one person displaces another."""

from collections.abc import Mapping
from itertools import product
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience
from api.operations.sensitivity.families import Size
from api.operations.sensitivity.people import Human
from privacy.tables.price import Relation
from tests.privacy_audit.sensitivity.kinds.rows import (
    larger,
    others_with_rows,
    with_rows,
    with_same_rows,
)
from tests.privacy_audit.sensitivity.options import (
    GAUSSIAN,
    LAPLACE,
    Option,
    audiences,
    shares,
    worlds,
)

SCORES = (0.0, 1.4)
OUTCOMES = (None, 0.0, 1.0)
ROWS = st.tuples(
    st.sampled_from([0.1, 0.6, 0.6, 1.4, 2.0]),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["north", "south"]),
)


def options(size: Size) -> list[Option]:
    base: dict[str, Any] = {
        "log": "jobs",
        "bins": {"edges": [0.5, 1, 1.5]},
        "corrections": [{"label": "g0", "add": [0, 0]}, {"label": "g1", "add": [0.5, -1]}],
        "outcome_range": {"low": 0, "high": 1},
    }
    cases = [("Laplace", LAPLACE, *each) for each in product((None, 1, 2), (1, 2))]
    cases += [("Gaussian", GAUSSIAN, places, 2) for places in (None, 1)]
    found = []
    for source, audience in audiences(size, several=False).items():
        for name, noise, places, rows in cases:
            asked = base | noise | {"rows_per_person": rows, "places": places}
            title = f"{name}, {places or 'no'} place(s), {rows} row(s), {source}"
            if source != "confirmed" or rows == 1:
                # The others of the plain requests are everybody with one row; that takes seconds.
                full = source == "upload" and rows == 1
                found.append(_option(title, asked, audience, size, full=full))
    upload = audiences(size)["upload"]
    changes: dict[str, dict[str, Any]] = {
        "only north": {"where": {"place": ["north"]}},
        "slopes": {"slopes": [2, 0.5]},
        "part of the range": {"outcome_range": {"low": 0.25, "high": 0.5}, "epsilon": "2"},
        "no correction, 1 bin": {
            "bins": {"edges": [0, 2]},
            "corrections": [{"label": label, "add": [0]} for label in ("g0", "g1")],
        },
        "columns swapped": {"score": "outcome", "outcome": "score"},
        "another log": {"log": "items", "query": "query", "score": "rank"},
        "by score": {"query": "score", "score": "query"},
        "Gaussian at 1": GAUSSIAN | {"rho": "1", "epsilon": None},
    }
    return [
        *found,
        *(_option(name, base | LAPLACE | each, upload, size) for name, each in changes.items()),
        _option(
            "upload, 2 groups each",
            base | LAPLACE,
            SearchedAudience(groups_per_person=2, people=size.people),
            size,
            refused=True,
        ),
    ]


def _option(
    name: str,
    asked: Any,
    audience: SearchedAudience,
    size: Size,
    *,
    refused: bool = False,
    full: bool = False,
) -> Option:
    most = asked.get("rows_per_person", 1)
    if asked["log"] == "items":
        letters: list[Any] = [(0, rank, 0.5, worth) for rank in (1, 2) for worth in OUTCOMES]
        others = with_same_rows(audience, letters[1:], 1)
    else:
        letters = [(*each, "north") for each in product(SCORES, OUTCOMES, (0.0, 1.0))]
        some = _others(most)[: 3 if audience.source == "sample" and not size.is_long else None]
        others = others_with_rows(audience, letters, most) if full else some
    few = letters if most == 1 or size.is_long else letters[1::3]
    people = with_rows(audience, few, most)
    look = worlds(audience, people, others, size)
    rows = ROWS if asked["log"] == "jobs" else st.sampled_from(letters)
    refused = refused or audience.source == "hidden"
    strategy = larger(audience, rows, 3)
    attains = _attains(asked, audience)
    return Option(
        "bias-size", name, asked, audience, look, strategy, attains, refused, sampled=not full
    )


def _others(most: int) -> list[Human]:
    """Others with the same row in as many queries as somebody may have rows in."""
    kinds = [(0, 0.0, 0.0), (1, 0.0, 0.0), (1, 1.4, 1.0), (0, 1.4, None), (1, 0.0, None)]
    return [
        Human(
            (group,), rows=tuple((score, outcome, float(query), "north") for query in range(most))
        )
        for group, score, outcome in kinds
    ]


def _attains(asked: Any, audience: SearchedAudience) -> Mapping[Relation, float]:
    """Return what two people reach: a change that moves every cell twice needs three or more.

    Gaussian prices bound the squared norm by a sum of norms, and one of fixed slots by twice as
    many people: neither is meant to be tight.
    """
    if asked["mechanism"] == "discrete-gaussian":
        share = 0.09 if audience.source == "sample" else 0.25
        return shares(share, share / 2)
    added, changed = {None: (0.9, 0.6), 1: (0.7, 0.35), 2: (0.6, 0.4)}[asked.get("places")]
    half = 0.4 if audience.source == "sample" else 1
    return shares(half * added, half * changed)
