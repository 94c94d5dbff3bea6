"""Time range of a query."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement
from sqlmodel import col

from api.kernel.clock import EPOCH, now
from api.kernel.errors import InvalidRequestError

DEFAULT_DAYS = 90
# The ledger's time may be ahead of the clock: it never runs backwards, and may be whole seconds.
_AHEAD = timedelta(days=1)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TimeRange:
    """Range of time from `since` (inclusive) to `until` (exclusive)."""

    since: datetime
    until: datetime

    @classmethod
    def of(cls, since: datetime | None, until: datetime | None) -> "TimeRange":
        """Return the given range (default: the last 90 days, up to now)."""
        end = _within(until) if until else now() + _AHEAD
        begin = _within(since) if since else end - timedelta(days=DEFAULT_DAYS)
        if begin >= end:
            raise InvalidRequestError("`since` must be before `until`.")
        return cls(begin, end)

    def holds(self, instant: Any) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        """Return the condition that a column of moments is in the range."""
        return col(instant) >= self.since, col(instant) < self.until

    def __contains__(self, instant: datetime) -> bool:
        return self.since <= instant < self.until


def _within(instant: datetime) -> datetime:
    """Return the instant in UTC; raise if it is too early or too late for arithmetic."""
    if not EPOCH <= instant <= _LAST:
        raise InvalidRequestError("`since` and `until` must be in the years 1970 to 8999.")
    return instant.astimezone(UTC)
