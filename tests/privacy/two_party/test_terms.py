"""Terms: the reach of one person by brute force, and one serialisation."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from privacy.errors import BoundsError
from privacy.two_party import CandidatePeople, Entries, RunTerms
from privacy.two_party.errors import MalformedError
from tests.privacy.two_party.runs import small
from tests.refusals import refuses

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
    terms = small(groups=2, cells=2, weights=Entries(0, 2, 3), values=Entries(-1, 1, 2), moved=2)
    rows = rows_within(terms.values, 2)
    shares = rows_within(terms.weights, 2)
    # One's own row goes, and another person's values change by two.
    tables = [
        np.outer(w, v) + np.outer(other, one - two)
        for w in shares
        for v in rows
        for other in shares
        for one in rows
        for two in rows
        if np.abs(one - two).sum() <= terms.moved
    ]
    added = terms.bounds.added
    assert max(int(np.abs(t).sum()) for t in tables) == added.l1
    assert max(int((t**2).sum()) for t in tables) <= added.l2_squared
    assert max(int(np.abs(t).max()) for t in tables) <= added.linf
    assert terms.bounds.changed.l1 == 2 * added.l1


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("people", range(1, 7))
def test_who_comes_in_puts_one_other_out_at_most(people: int, shared: bool) -> None:
    """Also where two people share each token, of whom one has the place."""
    terms = small(groups=2, cells=1, candidates=3)
    tokens = [bytes([number // (1 + shared)]) * 32 for number in range(people)]
    everybody = CandidatePeople(b"".join(tokens), np.arange(people) * 7, draw_key=bytes(32))
    table = {person: np.outer([1, 2], [1]) for person in everybody.persons.tolist()}

    def counted(join: CandidatePeople) -> np.ndarray:
        kept = join.shuffled(3).persons
        return sum((table[who] for who in kept.tolist() if who >= 0), np.zeros((2, 1), int))

    kept = set(everybody.shuffled(3).persons.tolist()) - {-1}
    assert len(kept) == min(len(set(tokens)), 3)
    for left in range(people):
        without = b"".join(tokens[:left] + tokens[left + 1 :])
        others = CandidatePeople(without, np.delete(everybody.persons, left), bytes(32))
        now = set(others.shuffled(3).persons.tolist()) - {-1}
        assert len(kept ^ now) <= 2
        assert np.abs(counted(everybody) - counted(others)).sum() <= terms.bounds.added.l1


def test_a_public_size_doubles_everything() -> None:
    shown, hidden = small().bounds, small(candidates=3).bounds
    assert (hidden.added.l1, hidden.changed.l1) == (2 * shown.added.l1, 2 * shown.changed.l1)


def test_digests_are_those_of_the_vectors() -> None:
    for case in json.loads(VECTORS.read_text())["good"]:
        terms = RunTerms.from_json(case["json"].encode())
        assert terms.digest.hex() == case["digest"], case["name"]
        assert terms.to_json().decode() == case["json"]


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text())["bad"], ids=lambda c: c["name"])
def test_bad_terms_are_refused(case: dict[str, str]) -> None:
    with pytest.raises((MalformedError, BoundsError)):
        RunTerms.from_json(case["json"].encode())


def test_more_than_can_be_flooded_is_refused_beforehand() -> None:
    with refuses(BoundsError, "sum-too-large"):
        small(rows=10**7, values=Entries(0, 2**40, 2**40))
