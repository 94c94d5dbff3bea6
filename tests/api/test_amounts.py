"""Amounts of epsilon: exact on the wire and in the database, or refused."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine

from api.store.types import Micro, Utc, as_decimal, to_micro

SQLITE = create_engine("sqlite://").dialect
whole = st.integers(-(10**15), 10**15)


@given(whole)
def test_every_whole_number_of_millionths_is_kept_exactly(micro: int) -> None:
    amount = Fraction(micro, 1_000_000)
    assert to_micro(amount) == micro
    assert Fraction(as_decimal(amount)) == amount
    column = Micro()
    assert column.process_result_value(column.process_bind_param(amount, SQLITE), SQLITE) == amount


@given(whole)
def test_decimals_have_no_exponent_and_no_trailing_zeros(micro: int) -> None:
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
        (Fraction(-3, 2), "-1.5"),
        (Fraction(1000), "1000"),
    ],
)
def test_known_amounts(amount: Fraction, text: str) -> None:
    assert str(as_decimal(amount)) == text


@given(st.fractions(max_denominator=10**9))
def test_what_is_not_a_whole_number_of_millionths_is_refused_never_rounded(
    amount: Fraction,
) -> None:
    if (amount * 1_000_000).denominator == 1:
        assert Fraction(as_decimal(amount)) == amount
        return
    with pytest.raises(ValueError, match="millionths"):
        to_micro(amount)
    with pytest.raises(ValueError, match="millionths"):
        as_decimal(amount)


def test_a_tenth_as_a_float_is_not_a_tenth() -> None:
    assert to_micro(Fraction(Decimal("0.1"))) == 100_000
    with pytest.raises(ValueError, match="millionths"):
        to_micro(Fraction(0.1))


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
