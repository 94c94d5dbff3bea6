from auditor_client.audiences.labels import join_name, label_names, name_of
from auditor_client.errors import InputError
from tests.refusals import refuses


def test_labels_go_by_sorted_name() -> None:
    assert label_names(["woman", "man", "woman"]) == {"g0": "man", "g1": "woman"}


def test_labels_count_and_do_not_sort_as_text() -> None:
    labels = label_names(f"{number:02}" for number in range(12))
    assert list(labels) == [f"g{number}" for number in range(12)]


def test_no_group_and_too_many_are_refused() -> None:
    with refuses(InputError, "no-groups"):
        label_names([])
    with refuses(InputError, "too-many-groups", 101):
        label_names(map(str, range(101)))


def test_a_label_nobody_knows_stands_for_itself() -> None:
    assert name_of({"g0": "man"}, "g1") == "g1"


def test_intersections_are_named_by_their_parts() -> None:
    assert join_name(("woman", 3)) == "woman × 3"
