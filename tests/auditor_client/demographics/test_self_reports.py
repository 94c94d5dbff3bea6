import math

import numpy as np
import pytest

from auditor_client import InputError
from auditor_client.demographics import CATEGORIES, SILENT, Probabilities, RandomisedResponse
from tests.refusals import refuses

SECRET = b"a secret of the tests, 32 bytes."
PEOPLE = 60_000


def test_the_rates_of_the_paper() -> None:
    response = RandomisedResponse(epsilon=4.5)
    assert response.keep == pytest.approx(0.947378, abs=5e-7)
    assert response.other == pytest.approx(0.010524, abs=5e-7)
    assert 1 - response.keep == pytest.approx(0.052622, abs=5e-7)
    assert response.matrix.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.5, 20.0, 60.0])
def test_the_rates_in_64_bits_are_never_beyond_epsilon(epsilon: float) -> None:
    response = RandomisedResponse(epsilon)
    assert response._keep + 5 * response._other == 2**64
    assert math.log(response._keep) - math.log(response._other) <= epsilon + 1e-15


def test_labels_are_flipped_at_the_stated_rates() -> None:
    response = RandomisedResponse(epsilon=4.5)
    reported = response.reported(["black"] * PEOPLE, range(PEOPLE), SECRET)
    counts = np.bincount(reported, minlength=6)
    expected = PEOPLE * response.matrix[1]
    # Each count is binomial; 5.5 standard deviations: wrong by chance in less than 1e-6.
    assert (np.abs(counts - expected) < 5.5 * np.sqrt(expected)).all()


def test_a_person_is_drawn_once_and_others_differ() -> None:
    response = RandomisedResponse(epsilon=0.5)
    labels, people = ["white", "hispanic"] * 500, [f"person {n}" for n in range(1000)]
    first = response.reported(labels, people, SECRET)
    assert response.reported(labels, people, SECRET).tolist() == first.tolist()
    assert response.reported(labels[::-1], people[::-1], SECRET).tolist() == first[::-1].tolist()
    as_text = response.reported(labels, np.array(people), SECRET)
    assert as_text.tolist() == first.tolist()
    assert response.reported(labels, people, SECRET[::-1]).tolist() != first.tolist()


def test_inverted_sums_are_unbiased_where_raw_ones_are_not() -> None:
    response = RandomisedResponse(epsilon=1.0, columns=("a", "b", "c"))
    rng = np.random.default_rng(5)
    true = rng.choice(3, PEOPLE, p=[0.7, 0.2, 0.1])
    values = np.where(true == 2, 1.0, 0.0)
    labels = [response.columns[code] for code in true]
    reported = response.reported(labels, range(PEOPLE), SECRET)
    sums = np.asarray(response.inverted(reported)).T @ values
    of_one = np.abs(np.asarray(response.inverted(np.arange(3)))).max()
    # Σ of 6,000 bounded weights: 5.5 standard deviations, wrong in less than 1e-6.
    assert np.abs(sums - np.array([0, 0, values.sum()])).max() < 5.5 * of_one * values.sum() ** 0.5
    raw = np.eye(3)[reported].T @ values
    assert raw[0] > 0.15 * values.sum()


def test_the_inverse_is_the_inverse_matrix() -> None:
    response = RandomisedResponse(epsilon=2.0)
    weights = np.asarray(response.inverted(np.arange(6)))
    assert response.matrix @ weights == pytest.approx(np.eye(6))
    assert weights.sum(axis=1) == pytest.approx(1)


def test_the_posterior_is_bayes_rule_and_stays_calibrated() -> None:
    response = RandomisedResponse(epsilon=1.5, columns=("a", "b"))
    prior = Probabilities([[0.9, 0.1], [0.9, 0.1], [0.3, 0.7]], ("a", "b"))
    found = np.asarray(response.posterior(prior, np.array([0, 1, SILENT])))
    k, o = response.keep, response.other
    assert found[0, 0] == pytest.approx(0.9 * k / (0.9 * k + 0.1 * o))
    assert found[1, 0] == pytest.approx(0.9 * o / (0.9 * o + 0.1 * k))
    assert found[2].tolist() == [0.3, 0.7]


def test_posteriors_add_up_to_the_people_there_are() -> None:
    response, rng = RandomisedResponse(epsilon=1.0, columns=("a", "b")), np.random.default_rng(6)
    share = rng.uniform(0.05, 0.95, PEOPLE)
    true = rng.random(PEOPLE) < share
    labels = ["a" if one else "b" for one in true]
    prior = Probabilities(np.column_stack([share, 1 - share]), ("a", "b"))
    reported = response.reported(labels, range(PEOPLE), SECRET)
    found = response.posterior(prior, reported)["a"]
    for part in (found < 0.3, (found >= 0.3) & (found < 0.7), found >= 0.7):
        # Of calibrated vectors Σ(1{r = a} - p) has variance Σ p(1 - p): 5.5 of its roots.
        apart = np.sum(true[part] - found[part])
        assert abs(apart) < 5.5 * np.sqrt(np.sum(found[part] * (1 - found[part])))


def test_the_silent_stay_silent() -> None:
    response = RandomisedResponse()
    reported = response.reported([None, "white"], ["x", "y"], SECRET)
    assert reported[0] == SILENT
    assert np.asarray(response.inverted(reported))[0].tolist() == [0.0] * 6


def test_bad_input_is_named() -> None:
    response = RandomisedResponse()
    with refuses(InputError, "unknown-labels", "purple"):
        response.reported(["purple"], ["x"], SECRET)
    with refuses(InputError, "label-per-person", 2, 1):
        response.reported(["white", "white"], ["x"], SECRET)
    with refuses(InputError, "secret-size", "token_bytes"):
        response.reported(["white"], ["x"], b"short")
    with refuses(InputError, "randomised-response"):
        RandomisedResponse(epsilon=0)
    with refuses(InputError, "shape-of-the-prior"):
        response.posterior(Probabilities([[0.5, 0.5]], ("a", "b")), np.array([0]))
    assert response.columns == CATEGORIES
