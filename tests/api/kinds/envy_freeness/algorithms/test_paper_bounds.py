"""Known answers of Lemma 4 and φ, as ERRATA of the paper has them."""

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms.paper_bounds import Widths, beta, phi, theta
from api.kinds.envy_freeness.algorithms.terms import Terms


def test_known_answers_of_lemma_4() -> None:
    assert theta(0.05, 0.99) == pytest.approx(0.06185774, abs=5e-9)
    found = [beta(n, 9, 0.05, 0.99, 0.5) for n in (1, 10, 100, 1000)]
    assert found == pytest.approx([4.626416, 1.649915, 0.542984, 0.175822], abs=5e-7)


def test_known_answer_of_phi() -> None:
    assert phi(100, 0.05, 0.5) == pytest.approx(35.787353, abs=5e-7)
    assert phi(0, 0.05, 0.5) == 0


def test_an_arm_never_pulled_may_be_anything() -> None:
    assert beta(0, 9, 0.05, 0.99, 0.5) == np.inf


@pytest.mark.parametrize("omega", [0.01, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("arms", [1, 75])
def test_intervals_narrow_with_every_pull(omega: float, arms: int) -> None:
    widths = beta(np.arange(1, 3000), arms, 0.4999, omega, 0.5)
    assert (np.diff(widths) < 0).all()


def test_tables_grow_and_hold_the_formulas() -> None:
    widths = Widths(Terms(0.05, 0.05, 0.1), arms=9)
    widths.reach(5000)
    assert widths.beta[5000] == beta(5000, 9, 0.05, 0.99, 0.5)
    assert widths.spread[5000] == 5000 * widths.beta[5000]
    assert widths.spread[0] == 0
    assert widths.phi[100] == phi(100, 0.05, 0.5)
