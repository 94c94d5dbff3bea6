"""Column types with the same meaning on SQLite and on PostgreSQL."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlalchemy import BigInteger, DateTime, Dialect, TypeDecorator
from sqlalchemy.types import UserDefinedType

from privacy.tables.price import Amount

PICO = 10**12


class Utc(TypeDecorator[datetime]):
    """An instant in UTC; SQLite drops time zones, so the type adds it again when it reads."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("An instant needs a time zone.")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Pico(TypeDecorator[Fraction]):
    """An exact amount of epsilon or rho, stored as an integer number of 10⁻¹².

    Epsilon comes in millionths, and a stored rho is epsilon² / 2 of twice such an epsilon. So both
    are integers here (R5).
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Fraction | None, dialect: Dialect) -> int | None:
        return None if value is None else to_pico(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> Fraction | None:
        return None if value is None else Fraction(int(value), PICO)


class Plain(UserDefinedType[bytes]):
    """Bytes that go to the database unchanged; SQLAlchemy would wrap each in an object."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "BYTEA"


def to_pico(value: Amount) -> int:
    """Return a number of whole units; refuse an amount that is not one, without rounding."""
    exact = Fraction(value)
    units, rest = divmod(exact.numerator * PICO, exact.denominator)
    if rest:
        raise ValueError(f"{value} is not a whole number of units of 10⁻¹².")
    return units


def as_decimal(value: Amount) -> Decimal:
    """Return the same amount as a decimal without trailing zeros, for the wire."""
    # rho = epsilon² / 2 under add/remove may end in half a unit: one more digit makes it exact.
    tenths = Fraction(value) * PICO * 10
    if tenths.denominator != 1:
        raise ValueError(f"{value} has too many decimals.")
    whole, rest = divmod(abs(tenths.numerator), PICO * 10)
    text = f"{whole}.{rest:013d}".rstrip("0").rstrip(".")
    return Decimal(f"-{text}" if tenths < 0 else text)
