"""Clock: the time, always in UTC and always by this function."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    return datetime.now(UTC)


def whole_second(moment: datetime) -> datetime:
    """Return the moment in the resolution that auditors see, because exact run times are
    private.
    """
    return moment.replace(microsecond=0)


def next_second(moment: datetime) -> datetime:
    """Return the next whole second, for the ledger, whose time never runs backwards."""
    whole = whole_second(moment)
    return whole if whole == moment else whole + timedelta(seconds=1)
