"""Decimal numbers for requests, exactly as people typed them."""

from decimal import Decimal, InvalidOperation

from auditor_client.errors import InputError

Number = int | float | str | Decimal

MAX_DECIMALS = 6


def to_decimal(value: Number, name: str = "epsilon", decimals: int = MAX_DECIMALS) -> Decimal:
    """Return the typed number as a decimal of at most `decimals` decimals, never rounded."""
    try:
        # A float's shortest representation is the typed number: 0.1 means 0.1.
        number = Decimal(str(value)).normalize()
    except InvalidOperation as error:
        raise InputError(
            f"{value!r} is not a number: {name} must be one.", case="not-a-number"
        ) from error
    if not number.is_finite():
        raise InputError(f"{value!r} is not a number: {name} must be one.", case="not-a-number")
    if int(number.as_tuple().exponent) < -decimals:
        raise InputError(
            f"{value} has more than {decimals} decimal places: write {name} with fewer.",
            case="too-many-decimals",
        )
    return Decimal(f"{number:f}")  # 20, where `normalize` returns 2E+1


def to_decimal_or_none(
    value: Number | None, name: str, decimals: int = MAX_DECIMALS
) -> Decimal | None:
    return None if value is None else to_decimal(value, name, decimals)
