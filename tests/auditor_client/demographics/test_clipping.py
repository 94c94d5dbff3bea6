import numpy as np
import pytest

from auditor_client import InputError
from auditor_client.demographics import Probabilities, clipped, threshold_at
from tests.refusals import refuses

SECRET = b"a secret of the tests, 32 bytes."
NAMES = ("a", "b", "c")


def vectors(people: int) -> Probabilities:
    rows = np.random.default_rng(7).dirichlet([0.3, 0.3, 0.3], people)
    return Probabilities(rows, NAMES)


def test_nothing_exceeds_the_threshold_and_rows_add_up() -> None:
    found, people = vectors(5000), range(5000)
    after = np.asarray(clipped(found, people, SECRET))
    assert after.max() <= 0.825
    assert after.min() >= 0
    assert after.sum(axis=1) == pytest.approx(1)
    below = np.asarray(found).max(axis=1) <= 0.825
    assert after[below].tolist() == np.asarray(found)[below].tolist()
    assert (after[~below].argmax(axis=1) == np.asarray(found)[~below].argmax(axis=1)).all()


def test_self_reports_and_estimates_look_alike_afterwards() -> None:
    sure = Probabilities(np.eye(3)[[0] * 4000], NAMES)
    likely = Probabilities(np.tile([0.95, 0.03, 0.02], (4000, 1)), NAMES)
    one = np.asarray(clipped(sure, range(4000), SECRET))[:, 0]
    other = np.asarray(clipped(likely, range(4000, 8000), SECRET))[:, 0]
    # Both are uniform on [.775, .825]: 5.5 standard deviations of a mean of 4,000.
    for found in (one, other):
        assert abs(found.mean() - 0.8) < 5.5 * 0.05 / np.sqrt(12 * 4000)
        assert found.min() >= 0.775


def test_a_person_is_clipped_alike_in_every_run() -> None:
    found = vectors(300)
    names = [f"person {n}" for n in range(300)]
    first = np.asarray(clipped(found, names, SECRET))
    assert np.asarray(clipped(found, names, SECRET)).tolist() == first.tolist()
    turned = clipped(found[::-1], names[::-1], SECRET)
    assert np.asarray(turned)[::-1].tolist() == first.tolist()
    assert np.asarray(clipped(found, names, SECRET[::-1])).tolist() != first.tolist()


def test_the_threshold_may_be_set_by_a_quantile() -> None:
    found = vectors(2000)
    level = threshold_at(found, 0.9)
    assert np.mean(np.asarray(found).max(axis=1) <= level) == pytest.approx(0.9, abs=0.001)


def test_many_groups_are_clipped_too() -> None:
    many = Probabilities(np.eye(20)[:5], [f"g{n}" for n in range(20)])
    after = np.asarray(clipped(many, range(5), SECRET))
    assert after.max() <= 0.825
    assert (after > 0).all()


def test_a_threshold_that_would_lift_others_above_it_is_refused() -> None:
    with refuses(InputError, "threshold-range", "0.525"):
        clipped(vectors(3), range(3), SECRET, threshold=0.5)
    with refuses(InputError, "vector-per-person", 3, 2):
        clipped(vectors(3), range(2), SECRET)
