"""Prices are exact vectors that add, and pay for each other currency by currency."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.tables.price import (
    ADD_REMOVE,
    CHANGE_ONE,
    FREE,
    INFINITE,
    Amount,
    Currency,
    ExactPrice,
    Name,
    Relation,
    approximate_epsilon,
)

amounts: st.SearchStrategy[Amount] = st.fractions(
    min_value=0, max_value=1_000, max_denominator=10**9
)
currencies: list[Currency] = ["epsilon", "rho"]
relations: list[Relation] = [ADD_REMOVE, CHANGE_ONE]
names: st.SearchStrategy[Name] = st.tuples(st.sampled_from(currencies), st.sampled_from(relations))
prices = st.dictionaries(names, amounts).map(ExactPrice)


def tenths(add_remove: int, change_one: int) -> ExactPrice:
    return ExactPrice(
        {
            ("epsilon", ADD_REMOVE): Fraction(add_remove, 10),
            ("epsilon", CHANGE_ONE): Fraction(change_one, 10),
        }
    )


def test_ten_tenths_are_one_under_both_relations() -> None:
    total = sum([tenths(1, 2)] * 10, FREE)
    assert total.amount("epsilon", ADD_REMOVE) == 1
    assert total.amount("epsilon", CHANGE_ONE) == 2


def test_the_debit_is_the_change_one_price() -> None:
    assert tenths(3, 6).debit("epsilon") == Fraction(6, 10)
    assert ExactPrice({("epsilon", ADD_REMOVE): Fraction(5)}).debit("epsilon") == 0
    assert FREE.debit("epsilon") == 0


def test_a_currency_that_is_absent_costs_nothing() -> None:
    assert FREE.amount("rho", ADD_REMOVE) == 0
    assert (FREE + tenths(1, 2)).amounts == tenths(1, 2).amounts


def test_paying_is_judged_in_every_currency_and_to_the_last_digit() -> None:
    paid, little = tenths(10, 20), Fraction(1, 10**30)
    assert paid.covers(paid)
    assert paid.covers(FREE)
    assert not tenths(100, 19).covers(paid)
    assert not tenths(9, 200).covers(paid)
    short = ExactPrice({("epsilon", ADD_REMOVE): Fraction(1), ("epsilon", CHANGE_ONE): 2 - little})
    assert not short.covers(paid)
    assert not paid.covers(ExactPrice({("rho", ADD_REMOVE): little}))


def test_a_pure_price_is_exact_in_both_currencies() -> None:
    price = ExactPrice.epsilon(add_remove=Fraction(1, 3), change_one=Fraction(2, 3))
    assert price.amount("epsilon", CHANGE_ONE) == Fraction(2, 3)
    assert price.amount("rho", ADD_REMOVE) == Fraction(1, 18)
    assert price.debit("rho") == Fraction(2, 9)
    total: Amount = sum([price] * 3, FREE).debit("epsilon")
    assert isinstance(total, Fraction)
    assert total == 2


@given(prices, prices, prices)
def test_composition_is_a_sum_in_any_order(a: ExactPrice, b: ExactPrice, c: ExactPrice) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    both = a.amounts.keys() | b.amounts.keys()
    assert all((a + b).amount(*name) == a.amount(*name) + b.amount(*name) for name in both)


@given(prices, prices)
def test_a_sum_pays_for_its_parts_and_a_part_for_the_sum_only_if_the_rest_is_free(
    a: ExactPrice, b: ExactPrice
) -> None:
    assert (a + b).covers(a)
    assert a.covers(a + b) == all(amount == 0 for amount in b.amounts.values())


def test_a_gaussian_release_has_a_rho_and_no_epsilon() -> None:
    price = ExactPrice.rho(add_remove=Fraction(1, 3), change_one=Fraction(2, 3))
    assert (price.amount("rho", ADD_REMOVE), price.debit("rho")) == (Fraction(1, 3), Fraction(2, 3))
    assert price.amount("epsilon", ADD_REMOVE) == price.debit("epsilon") == INFINITE
    assert not ExactPrice.epsilon(add_remove=Fraction(10**9), change_one=Fraction(10**9)).covers(
        price
    )


def test_what_people_may_lose_is_a_currency_of_its_own() -> None:
    price = ExactPrice.exploration(Fraction(7)) + tenths(1, 2)
    assert price.exploration_loss == 7
    assert price.debit("epsilon") == Fraction(2, 10)
    assert tenths(1, 2).exploration_loss == 0
    assert not tenths(1, 2).covers(price)


@pytest.mark.parametrize("rho", ["0.001", "0.5", "1", "10", "123.456"])
@pytest.mark.parametrize("delta", ["0.000000001", "0.00001", "0.1"])
def test_an_approximate_epsilon_is_that_of_the_formula_and_rounded_up(rho: str, delta: str) -> None:
    found = approximate_epsilon(Fraction(rho), Fraction(delta))
    with localcontext(prec=50):
        # rho + 2 · sqrt(rho · ln(1/delta))   [BS16]
        exact = Decimal(rho) + 2 * (Decimal(rho) * (1 / Decimal(delta)).ln()).sqrt()
        assert exact <= Decimal(found) <= exact * (1 + Decimal(2) ** -46)
