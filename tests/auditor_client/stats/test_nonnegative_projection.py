"""The projection onto {x ≥ 0, Σx = n} against its definition, exactly."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor_client.stats.nonnegative_projection import project_to_total

COUNTS = st.lists(st.integers(-1_000, 1_000), min_size=1, max_size=30)
TOTALS = st.integers(0, 5_000)


def distance(one: Sequence[int | Fraction], other: Sequence[int | Fraction]) -> Fraction:
    return sum(
        ((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(one, other, strict=True)), Fraction(0)
    )


def rescaled(counts: Sequence[int], total: int) -> list[Fraction]:
    """The naive way: cut at 0, and stretch what is left to the total."""
    cut = [max(count, 0) for count in counts]
    if not any(cut):
        return [Fraction(total, len(counts))] * len(counts)
    return [Fraction(count * total, sum(cut)) for count in cut]


@pytest.mark.parametrize(
    ("counts", "total", "nearest"),
    [
        ([40, 60], 100, [40, 60]),
        ([40, 60, -2], 98, [39, 59, 0]),
        ([40, 60], 90, [35, 55]),
        ([5, -10, 1], 3, [Fraction(7, 2) - Fraction(1, 2), 0, 0]),
        ([-3, -1], 4, [1, 3]),
        ([1, 2, 3], 0, [0, 0, 0]),
        ([1, 2, 3], -7, [0, 0, 0]),
        ([-9], 5, [5]),
    ],
)
def test_known_answers(counts: list[int], total: int, nearest: list[int]) -> None:
    assert project_to_total(counts, total) == nearest


@given(COUNTS, TOTALS)
def test_the_result_is_non_negative_and_adds_up(counts: list[int], total: int) -> None:
    found = project_to_total(counts, total)
    assert min(found) >= 0
    assert sum(found) == total


@given(COUNTS, TOTALS)
def test_doing_it_again_changes_nothing(counts: list[int], total: int) -> None:
    once = project_to_total(counts, total)
    assert project_to_total(once, total) == once


@given(COUNTS, TOTALS)
def test_order_is_kept(counts: list[int], total: int) -> None:
    pairs = sorted(zip(counts, project_to_total(counts, total), strict=True))
    assert [made for _, made in pairs] == sorted(made for _, made in pairs)


@given(COUNTS, TOTALS)
def test_it_is_nearer_than_cutting_and_stretching(counts: list[int], total: int) -> None:
    naive = distance(counts, rescaled(counts, total))
    assert distance(counts, project_to_total(counts, total)) <= naive


@given(st.data())
def test_it_is_nearer_to_the_truth_than_the_noisy_counts(data: st.DataObject) -> None:
    truth = data.draw(st.lists(st.integers(0, 200), min_size=1, max_size=20))
    noise = st.lists(st.integers(-20, 20), min_size=len(truth), max_size=len(truth))
    noisy = [count + extra for count, extra in zip(truth, data.draw(noise), strict=True)]
    assert distance(truth, project_to_total(noisy, sum(truth))) <= distance(truth, noisy)


@given(COUNTS, TOTALS, st.data())
def test_no_other_point_of_the_set_is_nearer(
    counts: list[int], total: int, data: st.DataObject
) -> None:
    size = len(counts)
    weights = data.draw(st.lists(st.integers(0, 50), min_size=size, max_size=size))
    other = rescaled(weights, total)
    assert distance(counts, project_to_total(counts, total)) <= distance(counts, other)
