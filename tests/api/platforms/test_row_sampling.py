"""Rows drawn of each person: how many, which, and on what they depend."""

from math import comb

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from api.platforms.interfaces import Persons
from api.platforms.row_sampling import Indices, find_runs, sample_rows

counts = st.lists(st.integers(0, 9), min_size=1, max_size=30)
secrets = st.integers(0, 2**64 - 1)


def drawn(person: Persons, most: int, secret: int) -> Indices:
    return sample_rows(person, *find_runs(person), most, secret)


@given(counts, st.integers(1, 6), secrets)
def test_everybody_keeps_what_they_may_and_no_row_twice(
    rows: list[int], most: int, secret: int
) -> None:
    person = np.repeat(np.arange(len(rows)), rows)
    chosen = drawn(person, most, secret)
    assert len(set(chosen.tolist())) == len(chosen)
    kept = np.bincount(person[chosen], minlength=len(rows))
    assert kept.tolist() == [min(each, most) for each in rows]


@given(counts, st.integers(1, 6), secrets, st.integers(0, 29))
def test_nobody_s_draw_depends_on_anybody_else(
    rows: list[int], most: int, secret: int, gone: int
) -> None:
    def by_person(rows: list[int]) -> dict[int, list[int]]:
        person = np.repeat(np.arange(len(rows)), rows)
        first = np.concatenate([[0], np.cumsum(rows)])
        chosen = drawn(person, most, secret)
        return {
            who: sorted((chosen[person[chosen] == who] - first[who]).tolist())
            for who in range(len(rows))
        }

    gone %= len(rows)
    without = [0 if who == gone else each for who, each in enumerate(rows)]
    one, other = by_person(rows), by_person(without)
    assert {**one, gone: []} == other


def test_every_choice_is_as_likely_as_any_other() -> None:
    # 30,000 people with six rows, of whom two are drawn: 15 pairs. The χ² test falsely fails with
    # probability 1e-7, if the secret is chance; it is fixed here, so the test cannot flicker.
    people, rows, most = 30_000, 6, 2
    person = np.repeat(np.arange(people) * 7919 + 3, rows)
    chosen = np.sort(drawn(person, most, secret=20220607)).reshape(people, most) % rows
    pairs = np.bincount(chosen[:, 0] * rows + chosen[:, 1], minlength=rows**2)
    found = pairs[pairs > 0]
    assert len(found) == comb(rows, most)
    assert stats.chisquare(found).pvalue > 1e-7


def test_another_secret_draws_other_rows() -> None:
    person = np.repeat(np.arange(1_000), 10)
    one, other = (drawn(person, 1, secret) for secret in (1, 2))
    # Of ten rows the same is drawn twice with probability 1/10; 200 of 1,000 is ten deviations.
    assert np.mean(one == other) < 0.2
