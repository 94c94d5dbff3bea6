import numpy as np
import pytest

from auditor_client import InputError
from auditor_client.demographics import HSM, Probabilities, checked, coarsened, hard
from tests.refusals import refuses

ROWS = [[0.7, 0.2, 0.1], [0.0, 1.0, 0.0]]


def test_columns_have_names_and_rows_keep_them() -> None:
    found = checked(ROWS, ["a", "b", "c"])
    assert found.shape == (2, 3)
    assert found["b"].tolist() == [0.2, 1.0]
    assert found[1:].columns == ("a", "b", "c")
    assert found[np.array([True, False])].columns == ("a", "b", "c")
    assert found.as_columns()["c"].tolist() == [0.1, 0.0]


def test_a_name_never_stands_on_the_wrong_column() -> None:
    square = Probabilities(np.eye(3), ["a", "b", "c"])
    assert type(square[:, ::-1]) is np.ndarray
    assert square.T.columns == ()
    assert type(square * 2) is np.ndarray
    assert type(square.sum(axis=1)) is np.ndarray


@pytest.mark.parametrize(
    "row", [[0.5, 0.4, 0.0], [1.2, -0.2, 0.0], [np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0]]
)
def test_what_is_no_probability_vector_is_refused_with_its_row(row: list[float]) -> None:
    with refuses(InputError, "not-a-probability-vector", "Row 1"):
        checked([ROWS[0], row], ["a", "b", "c"])


def test_names_must_differ_and_be_as_many_as_columns() -> None:
    with refuses(InputError, "group-names", 3):
        checked(ROWS, ["a", "b"])
    with refuses(InputError, "group-names", 3):
        checked(ROWS, ["a", "b", "b"])
    with refuses(InputError, "no-such-group", "'d'", "a, b, c"):
        checked(ROWS, ["a", "b", "c"])["d"]


def test_hard_labels_are_vectors_too() -> None:
    found = hard(["men", "women", "men"])
    assert found.columns == ("men", "women")
    assert np.asarray(found).tolist() == [[1, 0], [0, 1], [1, 0]]
    with refuses(InputError, "unknown-labels", "x"):
        hard(["a", "x"], ["a", "b"])


def test_coarsening_adds_columns_up() -> None:
    names = ["white", "black", "api", "native", "multiple", "hispanic"]
    found = coarsened(Probabilities([[0.1, 0.2, 0.3, 0.05, 0.15, 0.2]], names), HSM)
    assert found.columns == ("HSM", "non-HSM")
    assert np.asarray(found)[0] == pytest.approx([0.45, 0.55])
    with refuses(InputError, "not-a-partition"):
        coarsened(checked(ROWS, ["a", "b", "c"]), {"x": ("a",), "y": ("b",)})
