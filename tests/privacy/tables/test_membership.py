"""Membership compared with a slow model of the rule (R4)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.errors import BoundsError
from privacy.tables.membership import Membership, is_among

Groups = list[list[int]]
# Few people, so that they meet often; negative numbers are nobody.
groups = st.lists(st.lists(st.integers(-3, 12), max_size=30), min_size=1, max_size=5)
few = st.integers(1, 4)


def limited(people: Groups, k: int) -> Groups:
    arrays = [np.array(group, np.int64) for group in people]
    return [persons.tolist() for persons in Membership.from_groups(arrays, k).groups]


def obvious(people: Groups, k: int) -> Groups:
    """Every person counts in the first k groups they are in."""
    result: Groups = [[] for _ in people]
    for person in sorted({p for group in people for p in group if p >= 0}):
        first = [number for number, group in enumerate(people) if person in group][:k]
        for number in first:
            result[number].append(person)
    return result


@given(groups, few)
def test_the_cut_is_the_obvious_one(people: Groups, k: int) -> None:
    assert limited(people, k) == obvious(people, k)


@given(groups, few, st.randoms(use_true_random=False))
def test_the_order_of_an_upload_makes_no_difference(people: Groups, k: int, rnd: object) -> None:
    shuffled = [group.copy() for group in people]
    for group in shuffled:
        rnd.shuffle(group)  # type: ignore[attr-defined]
    assert limited(shuffled, k) == limited(people, k)


@given(groups, few, st.integers(0, 12))
def test_a_person_more_or_less_moves_nobody_else_and_k_cells_at_most(
    people: Groups, k: int, person: int
) -> None:
    without = limited([[p for p in group if p != person] for group in people], k)
    whole = limited(people, k)
    assert [[p for p in group if p != person] for group in whole] == without
    assert sum(group.count(person) for group in whole) <= k


@given(groups, few, st.integers(1, 7))
def test_batches_hold_everybody_once_with_the_right_group(
    people: Groups, k: int, size: int
) -> None:
    membership = Membership.from_groups([np.array(group, np.int64) for group in people], k)
    collected: Groups = [[] for _ in people]
    for group, persons in membership.batches(size):
        assert len(persons) <= size
        collected[group] += persons.tolist()
    assert collected == obvious(people, k)


def test_nobody_matched_is_an_audience_too() -> None:
    assert limited([[-1, -1], []], 1) == [[], []]
    # Nobody is one batch too: the number of calls does not tell that nobody was found.
    [(group, persons)] = Membership.from_groups([np.array([-1])], 1).batches()
    assert (group, len(persons)) == (0, 0)


def test_the_largest_person_number_is_a_person() -> None:
    last = np.iinfo(np.int64).max
    assert limited([[last, 0, last], [last]], 1) == [[0, last], []]


@pytest.mark.parametrize("persons", [[1, 1], [2, 1], [-1, 0]])
def test_people_who_are_not_distinct_and_sorted_are_refused(persons: list[int]) -> None:
    with pytest.raises(BoundsError):
        Membership((np.array(persons),), 1)


@given(groups, few)
def test_everyone_is_everybody_who_counts_and_nobody_twice(people: Groups, k: int) -> None:
    everyone = Membership.from_groups([np.array(group, np.int64) for group in people], k).everyone()
    assert sorted(everyone.tolist()) == sorted({p for group in people for p in group if p >= 0})


def test_everyone_of_several_groups_is_counted_once() -> None:
    both = [np.array([1, 2, 3]), np.array([2, 3, 4]), np.array([3])]
    assert sorted(Membership.from_groups(both, 3).everyone().tolist()) == [1, 2, 3, 4]
    assert sorted(Membership.from_groups(both, 1).everyone().tolist()) == [1, 2, 3, 4]
    assert Membership.from_groups([np.empty(0, np.int64)] * 2, 2).everyone().tolist() == []


@given(st.lists(st.integers(0, 9), max_size=12), st.sets(st.integers(0, 9)))
def test_who_is_among_others(some: list[int], persons: set[int]) -> None:
    found = is_among(np.array(some, np.int64), np.array(sorted(persons), np.int64))
    assert found.tolist() == [person in persons for person in some]


@pytest.mark.parametrize("number", [2, 3, 5])
@pytest.mark.parametrize("beyond", range(-2, 3))
def test_person_numbers_at_the_end_of_what_a_word_holds(number: int, beyond: int) -> None:
    """There a person and a group do not fit into one number any more."""
    large = np.iinfo(np.int64).max // number + beyond
    people = [[0, 1], [large, 1, 0, large], *[[large, 1, 1]] * (number - 2)]
    for k in (1, 2):
        assert limited(people, k) == obvious(people, k)
        assert limited(people[::-1], k) == obvious(people[::-1], k)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_who_is_in_as_many_groups_as_there_are_counts_in_the_first_k(k: int) -> None:
    people = [[4, 4, 9], [9, 4], [4]]
    assert limited(people, k) == obvious(people, k)
    assert sum(group.count(4) for group in limited(people, k)) == k


def test_a_group_larger_than_a_batch_is_read_in_batches() -> None:
    membership = Membership((np.arange(5), np.empty(0, np.int64)), 1)
    found = [(group, persons.tolist()) for group, persons in membership.batches(2)]
    assert found == [(0, [0, 1]), (0, [2, 3]), (0, [4]), (1, [])]
    [one] = [persons for _, persons in Membership((np.arange(2),), 1).batches(1)][:1]
    assert one.tolist() == [0]


@pytest.mark.parametrize("persons", [[0, 2, 1], [3, 4, 4], [1, 2, 3, 2]])
def test_people_who_are_not_sorted_at_the_end_are_refused(persons: list[int]) -> None:
    with pytest.raises(BoundsError):
        Membership((np.array(persons),), 1)
