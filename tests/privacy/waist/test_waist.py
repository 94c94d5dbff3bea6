"""The one door: nothing passes that was not priced, and nothing that was not paid."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from privacy import waist
from privacy.errors import BoundsError, UnderpaidError
from privacy.tables.bounded_table import Bounds, Cells, Reach, Table
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, FREE, ExactPrice
from privacy.waist import DiscreteGaussian, DiscreteLaplace, LaplaceTree

BINS = Bounds.counts((2, 3), 1)
SIZES = Bounds.counts((2,), 1)
QUESTION = {
    "bins": DiscreteLaplace(BINS, Fraction(1)),
    "sizes": DiscreteLaplace(SIZES, Fraction(1, 4)),
}
TABLES = {"bins": Table.zeros(BINS), "sizes": Table.zeros(SIZES)}
PAID = ExactPrice.epsilon(add_remove=Fraction(5, 4), change_one=Fraction(5, 2))
LITTLE = Fraction(1, 10**12)


def test_the_price_is_the_sum_of_the_tables_whatever_the_number_of_groups() -> None:
    price = waist.price(QUESTION)
    assert price.amount("epsilon", ADD_REMOVE) == Fraction(5, 4)
    assert price.amount("epsilon", CHANGE_ONE) == Fraction(5, 2)
    many = {"bins": DiscreteLaplace(Bounds.counts((100, 1_000), 1), Fraction(1))}
    assert waist.price(many).debit("epsilon") == 2
    assert waist.price({}) == FREE


def test_what_is_paid_for_is_released_in_the_shape_of_its_table() -> None:
    noisy = waist.release(QUESTION, TABLES, PAID)
    assert {name: cells.shape for name, cells in noisy.items()} == {"bins": (2, 3), "sizes": (2,)}
    assert all(cells.dtype == np.int64 for cells in noisy.values())


@pytest.mark.parametrize(
    "mechanism",
    [
        DiscreteLaplace(BINS, Fraction(1)),
        DiscreteGaussian(BINS, Fraction(1)),
        LaplaceTree(BINS, Fraction(1)),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_a_release_draws_noise_once(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An average of two draws has less noise than was paid for."""
    drawn = list[Cells]()
    for each in (DiscreteLaplace, DiscreteGaussian):
        honest = each.noise

        def noise(self: Any, honest: Any = honest) -> Cells:
            drawn.append(honest(self))
            return drawn[-1]

        monkeypatch.setattr(each, "noise", noise)
    released = mechanism.release(Table(BINS, np.full(BINS.shape, 7, np.int64)))
    assert len(drawn) == 1
    if mechanism.name != "laplace-tree":
        assert np.array_equal(released, 7 + drawn[0])


@pytest.mark.parametrize(
    "paid",
    [
        FREE,
        ExactPrice.epsilon(add_remove=Fraction(5, 4), change_one=Fraction(5, 2) - LITTLE),
        ExactPrice.epsilon(add_remove=Fraction(5, 4) - LITTLE, change_one=Fraction(5, 2)),
        ExactPrice({("epsilon", ADD_REMOVE): Fraction(100)}),
        ExactPrice.rho(add_remove=Fraction(1, 100), change_one=Fraction(1, 100)),
    ],
)
def test_an_underpaid_release_is_refused(paid: ExactPrice) -> None:
    with pytest.raises(UnderpaidError):
        waist.release(QUESTION, TABLES, paid)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"bins": TABLES["bins"]},
        {**TABLES, "more": TABLES["sizes"]},
        {"bins": TABLES["bins"], "other": TABLES["sizes"]},
        {"bins": TABLES["sizes"], "sizes": TABLES["bins"]},
        {**TABLES, "sizes": Table.zeros(Bounds.counts((3,), 1))},
        # The same cells, but one person may move them further than was priced.
        {**TABLES, "bins": Table.zeros(Bounds.counts((2, 3), 2))},
        {**TABLES, "bins": Table.zeros(Bounds((2, 3), Reach(1, 1, 1), Reach(4, 4, 1)))},
    ],
)
def test_tables_that_were_not_priced_are_refused(tables: dict[str, Table]) -> None:
    with pytest.raises(BoundsError):
        waist.release(QUESTION, tables, PAID)


def test_a_refused_release_draws_no_noise_and_shows_no_cell() -> None:
    class Watched(Table):
        def plus(self, noise: Cells) -> Cells:
            raise AssertionError("the cells were touched")

    tables = {"bins": Watched(BINS, np.ones((2, 3), np.int64)), "sizes": TABLES["sizes"]}
    with pytest.raises(UnderpaidError) as refused:
        waist.release(QUESTION, tables, FREE)
    assert "1" not in str(refused.value)


def test_noise_is_centred_on_the_cells() -> None:
    cells = np.full((200, 500), 40)
    bounds = Bounds.counts(cells.shape, 1)
    plan = {"cells": DiscreteLaplace(bounds, Fraction(1))}
    noisy = waist.release(plan, {"cells": Table(bounds, cells)}, waist.price(plan))["cells"]
    # The mean of 100,000 cells with variance 1.84 has standard deviation .0043; six of them
    # are left by chance less often than once in 500 million runs.
    assert abs(noisy.mean() - 40) < 6 * 0.0043
