"""Terms: the reach of one person by brute force, and one serialisation."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from privacy.errors import BoundsError
from privacy.two_party import Entries, Terms
from privacy.two_party.errors import MalformedError
from tests.privacy.two_party.runs import small

VECTORS = Path(__file__).parents[2] / "vectors" / "two_party" / "terms.json"


def rows_within(entries: Entries, count: int) -> list[np.ndarray]:
    every = product(range(entries.low, entries.high + 1), repeat=count)
    return [np.array(row) for row in every if sum(map(abs, row)) <= entries.total]


@pytest.mark.parametrize("values", [Entries(0, 2, 3), Entries(-2, 1, 3), Entries(0, 3, 2)])
def test_nobody_reaches_further_than_the_bounds_say(values: Entries) -> None:
    terms = small(groups=2, cells=2, weights=Entries(0, 2, 3), values=values)
    added, changed = terms.bounds.added, terms.bounds.changed
    most = [0, 0, 0, 0, 0, 0]
    for w in rows_within(terms.weights, 2):
        tables = [np.outer(w, v) for v in rows_within(values, 2)]
        moves = [tables, [one - other for one in tables for other in tables]]
        for place, moved in enumerate(moves):
            norms = [(np.abs(t).sum(), (t**2).sum(), np.abs(t).max()) for t in moved]
            for norm, column in enumerate(zip(*norms, strict=True)):
                most[3 * place + norm] = max(most[3 * place + norm], *map(int, column))
    assert most[0] == added.l1
    assert most[1] <= added.l2_squared
    assert most[2] == added.linf
    assert most[3] <= changed.l1
    assert most[4] <= changed.l2_squared
    assert most[5] <= changed.linf


def test_who_moves_other_rows_reaches_further() -> None:
    alone, moving = small().bounds, small(moved_rows=2).bounds
    assert moving.added.l1 == 5 * alone.added.l1
    assert moving.changed.l1 == 6 * alone.added.l1
    assert moving.changed.l2_squared == 36 * alone.added.l2_squared


def test_digests_are_those_of_the_vectors() -> None:
    for case in json.loads(VECTORS.read_text())["good"]:
        terms = Terms.from_json(case["json"].encode())
        assert terms.digest.hex() == case["digest"], case["name"]
        assert terms.to_json().decode() == case["json"]


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text())["bad"], ids=lambda c: c["name"])
def test_bad_terms_are_refused(case: dict[str, str]) -> None:
    with pytest.raises((MalformedError, BoundsError)):
        Terms.from_json(case["json"].encode())


def test_more_than_can_be_flooded_is_refused_beforehand() -> None:
    with pytest.raises(BoundsError, match="too many for an exact and flooded sum"):
        small(rows=10**7, values=Entries(0, 2**40, 2**40))
