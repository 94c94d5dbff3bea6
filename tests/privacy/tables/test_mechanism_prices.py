"""Scale and price of the mechanisms, without OpenDP, against the waist, which draws by OpenDP."""

import math
from fractions import Fraction

import pytest

from privacy.errors import BoundsError
from privacy.plans import PlannedTable
from privacy.tables.bounded_table import Bounds
from privacy.tables.mechanism_prices import MECHANISMS, currency_of, exact_price, exact_scale
from privacy.tables.sensitivity import Reach, Sensitivity
from privacy.tables.tree_shape import best_branching, levels
from privacy.waist import make_mechanisms
from privacy.waist.tree import LaplaceTree

BOUNDS = [
    Bounds.counts((2, 5), 1),
    Bounds.counts((3, 21), 3, fixed_slots=True),
    Bounds.sums((4,), -3, 5, 2),
    Bounds.rows((2, 3, 6), Reach(7, 29, 3), 3, 2),
    Bounds((4,), Reach(4, 4, 1), Reach(8, 16, 2)),
]
PARAMETERS = [Fraction(1), Fraction(1, 3), Fraction(1, 10**6), Fraction(7, 2)]


def as_double(scale: str) -> float:
    if scale.startswith("sqrt("):
        return math.sqrt(Fraction(scale[5:-1]))
    return float(Fraction(scale))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("parameter", PARAMETERS)
def test_the_waist_draws_at_this_scale_and_price(
    mechanism: str, bounds: Bounds, parameter: Fraction
) -> None:
    drawn = make_mechanisms([PlannedTable("part", mechanism, bounds, parameter)])["part"]
    stated = exact_scale(mechanism, bounds.shape, bounds.added, parameter)
    assert drawn.scale == pytest.approx(as_double(stated), rel=1e-14)
    exact = Fraction(drawn.scale) ** (2 if stated.startswith("sqrt") else 1)
    assert exact >= Fraction(stated.removeprefix("sqrt(").removesuffix(")"))
    price = exact_price(mechanism, Sensitivity(bounds.added, bounds.changed), parameter)
    assert price == drawn.price
    assert drawn.parameter == parameter


@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 10, 21, 33, 64, 100, 101, 257, 1001])
def test_the_tree_of_opendp_has_these_levels(leaves: int) -> None:
    tree = LaplaceTree(Bounds.counts((1, leaves), 1), Fraction(1))
    assert tree.nodes.bounds.added.l1 == levels(leaves, best_branching(leaves))


def test_what_no_mechanism_is() -> None:
    with pytest.raises(BoundsError):
        currency_of("of-tomorrow")
    with pytest.raises(BoundsError):
        exact_scale("of-tomorrow", (1,), Reach(1, 1, 1), Fraction(1))
    with pytest.raises(BoundsError):
        exact_scale("discrete-laplace", (1,), Reach(1, 1, 1), Fraction(0))
    nothing = Sensitivity(Reach(0, 0, 0), Reach(0, 0, 0))
    with pytest.raises(BoundsError):
        exact_price("discrete-laplace", nothing, Fraction(1))
