"""Amounts and instants as whole numbers, exactly."""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

from privacy.errors import EvidenceError

# Epsilon has six decimals, and epsilon² / 2 at most thirteen.
UNITS = 10**13
DAY = 24 * 60 * 60 * 10**6

_AMOUNT = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@lru_cache(maxsize=65_536)
def parse_amount(text: str) -> Fraction:
    """Return a non-negative amount from a decimal string."""
    if not _AMOUNT.fullmatch(text):
        raise EvidenceError(f"{text[:40]!r} is not an amount", case="not-an-amount")
    return Fraction(text)


@lru_cache(maxsize=65_536)
def parse_units(text: str) -> int:
    """Return an amount as a whole number of units."""
    exact = parse_amount(text) * UNITS
    if exact.denominator != 1:
        raise EvidenceError(f"{text[:40]} has too many decimals", case="too-many-decimals")
    return exact.numerator


def parse_microseconds(text: str) -> int:
    """Return microseconds since 1970, from an ISO 8601 instant with a time zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise EvidenceError(f"{text[:40]!r} is not an instant", case="not-an-instant") from error
    if moment.tzinfo is None:
        raise EvidenceError(f"{text[:40]!r} has no time zone", case="no-time-zone")
    return microseconds(moment)


def microseconds(moment: datetime) -> int:
    """Return microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND
