"""The time, always in UTC and always by this function."""

from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    return datetime.now(UTC)


def whole_second(moment: datetime) -> datetime:
    """What auditors are shown of when something ended: run times in detail are not theirs."""
    return moment.replace(microsecond=0)
