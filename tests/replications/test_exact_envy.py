import numpy as np
import pytest

from replications.paper_2 import exact_envy

# Person 0 would gain .2 from one of two others, person 1 gains nothing, person 2 gains from both.
UTILITIES = np.array([[0.5, 0.7, 0.4], [0.1, 0.6, 0.6], [0.9, 0.31, 0.3]])


def test_envy_is_what_the_best_of_the_others_would_add() -> None:
    assert exact_envy.envy(UTILITIES) == pytest.approx([0.2, 0.0, 0.6])
    assert exact_envy.average_envy(UTILITIES) == pytest.approx(0.8 / 3)


def test_share_of_envious_people() -> None:
    assert exact_envy.share_envious(UTILITIES, 0.05) == pytest.approx(2 / 3)
    assert exact_envy.share_envious(UTILITIES, 0.3) == pytest.approx(1 / 3)


def test_gamma_forgives_a_few_better_policies() -> None:
    assert list(exact_envy.are_envious(UTILITIES, 0.0, 0.0)) == [True, False, True]
    assert list(exact_envy.are_envious(UTILITIES, 0.0, 0.4)) == [False, False, True]
    assert list(exact_envy.are_envious(UTILITIES, 0.05, 0.4)) == [False, False, False]


def test_lambda_forgives_a_few_people() -> None:
    assert not exact_envy.is_envy_free(UTILITIES, 0.05)
    assert exact_envy.is_envy_free(UTILITIES, 0.7)
    assert exact_envy.is_envy_free(UTILITIES, 0.0, gamma=0.4, lam=0.34)
    assert not exact_envy.is_envy_free(UTILITIES, 0.0, gamma=0.4, lam=0.3)
