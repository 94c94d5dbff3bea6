"""Clusters of people: the design effect, and what stays on this machine."""

import pyarrow as pa
import pytest

from auditor_client.audiences.clusters import clusters_of
from auditor_client.audiences.tables import read_members
from auditor_client.errors import InputError
from tests.refusals import refuses


def test_clusters_of_equal_size_multiply_the_variance_by_their_size() -> None:
    names = ["woman"] * 20 + ["man"] * 20
    clusters = [row // 5 for row in range(40)]
    found = clusters_of(names, list(range(40)), clusters)
    assert (found.design_effect, found.number, found.largest) == (5, 8, 5)
    assert clusters_of(names, list(range(40)), clusters, 0.25).design_effect == 2


def test_unequal_clusters_count_by_their_squares() -> None:
    """Σm²/Σm of 1 + 1 + 4 people; rows without a value are clusters of their own."""
    found = clusters_of(["a"] * 6, list("uvwxyz"), [None, float("nan"), 7, 7, 7, 7])
    assert found.design_effect == pytest.approx((1 + 1 + 16) / 6)


def test_a_cluster_across_groups_counts_all_its_people() -> None:
    names, people = ["a", "b"] * 10, list(range(20))
    found = clusters_of(names, people, [row // 2 for row in people])
    assert found.design_effect == pytest.approx(2)


def test_a_person_who_is_there_twice_counts_once() -> None:
    found = clusters_of(["a"] * 3, ["u", "u", "v"], [1, 1, 1])
    assert (found.design_effect, found.largest) == (2, 2)


def test_members_are_the_same_with_and_without_clusters() -> None:
    table = pa.table(
        {
            "email": [f"p{row}@example.org" for row in range(8)],
            "gender": ["man", "woman"] * 4,
            "household": [row // 4 for row in range(8)],
        }
    )
    plain = read_members(table, "email", "gender")
    found = read_members(table, "email", "gender", cluster="household")
    assert plain.clusters is None
    assert {name: each.to_pylist() for name, each in found.groups.items()} == {
        name: each.to_pylist() for name, each in plain.groups.items()
    }
    assert found.clusters is not None
    assert found.clusters.design_effect == 4


def test_a_correlation_beyond_one_is_refused() -> None:
    with refuses(InputError, "correlation"):
        clusters_of(["a"], ["u"], [1], 1.5)
