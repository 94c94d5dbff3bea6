"""The time, always in UTC and always by this function."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
