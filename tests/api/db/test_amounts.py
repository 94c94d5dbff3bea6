"""Amounts of epsilon: exact on the wire and in the database, or refused."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine

from api.db.types import Pico, Utc, as_decimal, to_pico

SQLITE = create_engine("sqlite://").dialect
UNIT = Fraction(1, 10**12)
whole = st.integers(-(10**18), 10**18)


@given(whole)
def test_every_whole_number_of_units_is_kept_exactly(units: int) -> None:
    amount = units * UNIT
    assert to_pico(amount) == units
    assert Fraction(as_decimal(amount)) == amount
    column = Pico()
    assert column.process_result_value(column.process_bind_param(amount, SQLITE), SQLITE) == amount


@given(st.integers(-(10**10), 10**10))
def test_epsilons_are_written_without_exponent_and_trailing_zeros(micro: int) -> None:
    text = str(as_decimal(Fraction(micro, 1_000_000)))
    assert "E" not in text
    assert "." not in text or not text.endswith(("0", "."))


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(10), "10"),
        (Fraction(5, 2), "2.5"),
        (Fraction(1, 1_000_000), "0.000001"),
        (Fraction(-1, 1_000_000), "-0.000001"),
        (Fraction(1, 1_000_000) ** 2 * 2, "2E-12"),
        (Fraction(-3, 2), "-1.5"),
        (Fraction(1000), "1000"),
    ],
)
def test_known_amounts(amount: Fraction, text: str) -> None:
    assert str(as_decimal(amount)) == text


@given(st.fractions(max_denominator=10**9))
def test_what_is_not_a_whole_number_of_units_is_refused_never_rounded(
    amount: Fraction,
) -> None:
    if (amount / UNIT).denominator == 1:
        assert Fraction(as_decimal(amount)) == amount
        return
    with pytest.raises(ValueError, match=str(amount)):
        to_pico(amount)
    if (10 * amount / UNIT).denominator != 1:
        with pytest.raises(ValueError, match=str(amount)):
            as_decimal(amount)


@given(st.integers(1, 10**7))
def test_epsilon_in_millionths_has_an_exact_rho(micro: int) -> None:
    epsilon = Fraction(2 * micro, 1_000_000)
    assert Fraction(to_pico(epsilon**2 / 2), 10**12) == epsilon**2 / 2


def test_a_tenth_as_a_float_is_not_a_tenth() -> None:
    assert to_pico(Fraction(Decimal("0.1"))) == 10**11
    with pytest.raises(ValueError, match=str(Fraction(0.1))):
        to_pico(Fraction(0.1))


def test_instants_keep_their_moment_and_need_a_zone() -> None:
    column = Utc()
    noon = datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    stored = column.process_bind_param(noon, SQLITE)
    assert stored == noon
    assert stored.tzinfo is UTC
    # As SQLite gives it back.
    assert column.process_result_value(stored.replace(tzinfo=None), SQLITE) == noon
    with pytest.raises(ValueError, match="time zone"):
        column.process_bind_param(datetime(2030, 1, 1), SQLITE)
