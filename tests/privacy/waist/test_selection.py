"""Report noisy max: the scale is twice the reach of one value, and only an index leaves."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_noisy_max
from opendp.measures import max_divergence
from opendp.metrics import linf_distance

from privacy.tables.bounded_table import Bounds, Reach, Table
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE
from privacy.waist import NoisyMax

# All three norms differ, so that no one stands for another.
REACH = Bounds((4,), Reach(20, 100, 5), Reach(60, 900, 15))


def epsilon_of(scale: float, distance: int) -> Fraction:
    """Return OpenDP's own price of a selection at this scale."""
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64")
    mechanism: Any = make_noisy_max(*space, max_divergence(), scale=scale)
    return Fraction(mechanism.map(distance))


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(7, 3)])
def test_the_scale_is_twice_the_reach_of_one_value_over_epsilon(epsilon: Fraction) -> None:
    mechanism = NoisyMax(REACH, epsilon)
    # ε = 2Δ / scale   [MS20], for values that are not monotone
    assert mechanism.scale == pytest.approx(10 / float(epsilon))
    assert epsilon_of(mechanism.scale, 5) <= epsilon
    assert epsilon_of(mechanism.scale * 0.999, 5) > epsilon


def test_a_change_costs_by_its_own_reach() -> None:
    mechanism = NoisyMax(REACH, Fraction(1, 2))
    assert mechanism.price.amount("epsilon", ADD_REMOVE) == Fraction(1, 2)
    assert mechanism.price.amount("epsilon", CHANGE_ONE) == Fraction(3, 2)
    assert epsilon_of(mechanism.scale, 15) <= mechanism.price.amount("epsilon", CHANGE_ONE)


def test_the_largest_is_chosen_where_noise_cannot_matter_and_at_random_where_it_must() -> None:
    mechanism = NoisyMax(REACH, Fraction(1))
    far = Table(REACH, np.array([0, 10**6, 5, 7], np.int64))
    assert {mechanism.release(far) for _ in range(20)} == {1}
    # Four equal values: one of them is never chosen in 200 draws with probability below 1e-24.
    equal = Table(REACH, np.full(4, 3, np.int64))
    assert {mechanism.release(equal) for _ in range(200)} == {0, 1, 2, 3}


def test_the_error_is_the_one_of_the_exponential_mechanism() -> None:
    mechanism = NoisyMax(REACH, Fraction(1))
    # scale · ln(m / p)   [MS20]
    assert mechanism.error(0.05) == np.ceil(mechanism.scale * np.log(4 / 0.05))
    assert mechanism.standard_deviation == mechanism.scale
