"""Gaussian noise: the scale follows from the reach in L2, and OpenDP vouches for the price."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from opendp.domains import atom_domain, vector_domain
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance

from privacy.tables.bounded_table import Bounds, Reach, Table
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, INFINITE
from privacy.waist import DiscreteGaussian

# All three norms differ, so that no one stands for another.
REACH = Bounds((3,), Reach(50, 36, 4), Reach(100, 144, 8))


def rho_of(scale: float, distance: float) -> Fraction:
    """Return OpenDP's own price of noise at this scale."""
    space = vector_domain(atom_domain(T="i64")), l2_distance(T="f64")
    mechanism: Any = make_gaussian(*space, scale=scale)
    return Fraction(mechanism.map(distance))


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(2), Fraction(7, 3)])
def test_the_scale_is_the_reach_over_the_root_of_twice_rho(rho: Fraction) -> None:
    mechanism = DiscreteGaussian(REACH, rho)
    # σ² = Δ² / 2ρ   [CKS20]
    assert mechanism.scale**2 == pytest.approx(36 / (2 * float(rho)))
    assert mechanism.standard_deviation == mechanism.scale


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(7, 3)])
def test_opendp_vouches_for_the_price_under_both_relations(rho: Fraction) -> None:
    mechanism = DiscreteGaussian(REACH, rho)
    assert rho_of(mechanism.scale, 6.0) <= rho
    assert rho_of(mechanism.scale, 12.0) <= mechanism.price.amount("rho", CHANGE_ONE)
    assert rho_of(mechanism.scale * 0.999, 6.0) > rho


def test_a_change_costs_by_its_own_reach() -> None:
    price = DiscreteGaussian(REACH, Fraction(1, 2)).price
    assert price.amount("rho", ADD_REMOVE) == Fraction(1, 2)
    assert price.amount("rho", CHANGE_ONE) == 2  # four times: twice as far
    assert price.amount("epsilon", ADD_REMOVE) == INFINITE
    counts = DiscreteGaussian(Bounds.counts((3,), 2), Fraction(1, 2)).price
    assert counts.amount("rho", CHANGE_ONE) == 1  # other cells: twice in squared L2


def test_a_dearer_change_makes_the_noise_no_smaller() -> None:
    """Rounded roots must be within both prices, or noise grows until they are."""
    for squared in (2, 3, 5, 7, 10**9 + 7):
        bounds = Bounds((1,), Reach(1, squared, 1), Reach(2, 3 * squared, 2))
        mechanism = DiscreteGaussian(bounds, Fraction(1, 3))
        price = mechanism.price
        assert rho_of(mechanism.scale, float(np.sqrt(squared))) <= price.amount("rho", ADD_REMOVE)
        assert rho_of(mechanism.scale, float(np.sqrt(3 * squared))) <= price.amount(
            "rho", CHANGE_ONE
        )


def test_noise_is_on_every_cell_and_as_large_as_its_scale() -> None:
    """The mean square of 40,000 cells errs by .7 % (one deviation): six are less than 5 %."""
    bounds = Bounds.counts((200, 200), 1)
    mechanism = DiscreteGaussian(bounds, Fraction(1, 200))
    noise = mechanism.release(Table.zeros(bounds))
    assert noise.shape == (200, 200)
    assert np.mean(noise**2) == pytest.approx(mechanism.scale**2, rel=0.05)
    # A mean of 40,000 cells of deviation 10 errs by .05: six of them.
    assert abs(noise.mean()) < 6 * mechanism.scale / 200


def test_the_error_is_the_bound_of_a_sub_gaussian() -> None:
    mechanism = DiscreteGaussian(Bounds.counts((1,), 1), Fraction(1, 200))
    # m = σ · sqrt(2 ln(2 / p))   [CKS20]
    assert mechanism.error(0.05) == np.ceil(mechanism.scale * np.sqrt(2 * np.log(40)))
