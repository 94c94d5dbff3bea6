"""Column types that mean the same on SQLite and on PostgreSQL."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

from sqlalchemy import BigInteger, DateTime, Dialect, TypeDecorator

MICRO = 1_000_000


class Utc(TypeDecorator[datetime]):
    """An instant in UTC; SQLite forgets time zones, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("an instant needs a time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Micro(TypeDecorator[Fraction]):
    """An exact amount of epsilon, kept as an integer number of millionths (R5)."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Fraction | None, dialect: Dialect) -> int | None:
        return None if value is None else to_micro(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> Fraction | None:
        return None if value is None else Fraction(value, MICRO)


def to_micro(value: Fraction) -> int:
    """Millionths; an amount that is not a whole number of them is refused, never rounded."""
    micro = Fraction(value) * MICRO
    if micro.denominator != 1:
        raise ValueError(f"{value} is not a whole number of millionths")
    return micro.numerator


def as_decimal(value: Fraction) -> Decimal:
    """The same amount as a decimal without trailing zeros, for the wire."""
    micro = to_micro(value)
    text = f"{micro // MICRO}.{micro % MICRO:06d}".rstrip("0").rstrip(".")
    if micro < 0:
        text = "-" + str(as_decimal(-value))
    return Decimal(text)
