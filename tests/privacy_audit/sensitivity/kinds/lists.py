"""Two-party audits of ranked lists, in which people meet as viewers and as candidates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from api.operations.sensitivity.audiences import SearchedAudience, Source
from api.operations.sensitivity.families import Family, Size
from api.operations.sensitivity.people import Human, Row
from tests.privacy_audit.sensitivity.kinds.exchanged import (
    KIND,
    SOURCES,
    Exchanged,
    asked_for,
    audience_of,
)
from tests.privacy_audit.sensitivity.kinds.rows import larger, others_with_rows, with_rows
from tests.privacy_audit.sensitivity.options import Option, memberships, shares, worlds

RANKS = (1, 2)
WORTH = (0.0, 1.0)
# Rows of a log whose lists are of items, or are nobody's: query, rank, relevance, outcome.
LETTERS: list[Any] = [
    (query, rank, worth, worth) for query, rank, worth in product((0, 1), RANKS, WORTH)
]
# One person is bounded by what they could move at worst, in every role at once. Few people reach a
# part of it; where people have one role, they reach all of it.
_PARTS = {
    "NDCG": 0.35,
    "LOT, above": 0.2,
    "LOT, below": 0.25,
    "POT": 0.2,
    "POT, lists of nobody": 0.6,
}
_HIDDEN = 0.12
_MOST = 4
_EVERYWHERE = ("NDCG", "LOT, above", "POT")


def options(size: Size) -> list[Option]:
    return [
        _option(f"{name}, {source}", asked_for(metric), _audience(source, size), size)
        for source in SOURCES
        for name, metric in _metrics().items()
        if source == "upload" or name in _EVERYWHERE
    ]


def _audience(source: Source, size: Size) -> SearchedAudience:
    """Two candidates at least: one would be alone in their lists, and meet nobody."""
    return replace(audience_of(source, size), size=2)


def _metrics() -> dict[str, dict[str, Any]]:
    ndcg: dict[str, Any] = {"name": "ndcg", "log": "lists", "relevance": "relevance", "length": 2}
    lot: dict[str, Any] = {
        "name": "lot",
        "relevance": "relevance",
        "relevance_range": {"low": 0, "high": 1},
    }
    pot: dict[str, Any] = {
        "name": "pot",
        "score": "relevance",
        "outcome_range": {"low": 0, "high": 1},
    }
    pot |= {"points": [0.0, 1.0], "bandwidth": 0.5}
    both, nobodys = {"per_viewer": 1, "per_candidate": 1}, {"per_candidate": 1}
    two = {"per_viewer": 2, "per_candidate": 2}
    return {
        "NDCG": ndcg | both,
        "NDCG, caps of 2": ndcg | two | {"relevance": "outcome"},
        "NDCG of items": ndcg | {"log": "items", "per_viewer": 1, "length": 1},
        "LOT, above": lot | both | {"log": "lists", "ranks": 2},
        "LOT, below": lot | both | {"log": "lists", "ranks": 3, "side": "below"},
        "LOT, caps of 2": lot | two | {"log": "lists", "ranks": 2, "relevance": "outcome"},
        "LOT, lists of nobody": lot
        | nobodys
        | {"log": "posts", "ranks": 2, "relevance_range": {"low": 0, "high": 0.5}},
        "POT": pot | both | {"log": "lists"},
        "POT, caps of 2": pot
        | two
        | {"log": "lists", "bandwidth": 0.1, "score": "outcome", "outcome": "relevance"},
        "POT, lists of nobody": pot | nobodys | {"log": "posts", "points": [0.5]},
        "POT, part of the range": pot
        | both
        | {"log": "lists", "outcome_range": {"low": 0.2, "high": 0.4}},
    }


def _option(name: str, asked: dict[str, Any], audience: SearchedAudience, size: Size) -> Option:
    metric = asked["metric"]
    if metric["log"] == "lists":
        # The rank of a pair is drawn by the seed: of three, some draw those that the lists have.
        seeds = range(2, 2 + size.seeds - 1) if metric.get("ranks") == 3 else range(size.seeds - 1)
        look, strategy = _meeting(audience, size, seeds), _any_lists(audience)
    else:
        people = with_rows(audience, LETTERS, 2 if size.is_long else 1)
        others = others_with_rows(audience, LETTERS, 1)
        look, strategy = worlds(audience, people, others, size), _any_rows(audience)
    title = name.removesuffix(f", {audience.source}")
    part = _PARTS.get(title, 0.1 if metric["log"] == "lists" else 0.9)
    # Of a hidden audience, twice as much is claimed: people displace each other there.
    share = _HIDDEN if audience.source == "hidden" else part
    attains = shares(share, share / 2)
    sampled = metric["log"] == "lists"
    return Exchanged(KIND, name, asked, audience, look, strategy, attains, sampled=sampled)


def _any_rows(audience: SearchedAudience) -> st.SearchStrategy[Human]:
    return larger(audience, st.sampled_from(LETTERS))


def _meeting(
    audience: SearchedAudience, size: Size, seeds: range
) -> Callable[[], Iterable[Family]]:
    """People who view lists in which they are listed themselves, and by others: a part of them."""

    def families() -> Iterator[Family]:
        places = range(audience.people)
        for number, seed in product(places, seeds):
            rest = [place for place in places if place != number]
            some = [
                list(_viewers(place, rest[:1], (0,)))[:: 1 + (not size.is_long)] for place in rest
            ]
            bases = product(*some)
            variants = list(_everything(number, rest, audience))
            for people in bases:
                yield Family(dict(zip(rest, people, strict=True)), number, variants, seed)

    return families


def _viewers(number: int, listed: list[int], rows: tuple[int, ...]) -> Iterator[Human]:
    """One list of two places each, with any of these people in them, or nobody."""
    choices: list[Any] = [None, *product(listed, WORTH)]
    for entries in product(choices, repeat=len(RANKS)):
        yield Human(rows, rows=_as_rows(entries))


def _everything(number: int, others: list[int], audience: SearchedAudience) -> Iterator[Human]:
    """One person with any list of their own, and any place in one list of each other person."""
    sitting: list[Any] = [None, *product(RANKS, WORTH)]
    for groups, viewer in product(memberships(audience), _viewers(number, others[:1], (0,))):
        for place in sitting if groups == (0,) else sitting[-1:]:
            sits = () if place is None else ((others[0], 0, *place),)
            yield Human(groups, rows=viewer.rows, sits=sits)


def _as_rows(entries: Iterable[Any]) -> tuple[Row, ...]:
    return tuple(
        (0, rank, *((None, None, None) if entry is None else (entry[0], entry[1], entry[1])))
        for rank, entry in zip(RANKS, entries, strict=True)
    )


def _any_lists(audience: SearchedAudience) -> st.SearchStrategy[Human]:
    """Larger worlds: several lists of each viewer, and places in those of several others."""
    worth = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    query, rank, who = st.integers(0, 2), st.integers(1, 3), st.integers(0, _MOST)
    row = st.tuples(query, rank, who, worth).map(lambda each: (*each, each[3]))
    rows = st.lists(row, max_size=6, unique_by=lambda each: each[:2]).map(tuple)
    sits = st.lists(st.tuples(who, query, rank, worth), max_size=4).map(tuple)
    return st.builds(Human, st.sampled_from(memberships(audience)), rows=rows, sits=sits)
