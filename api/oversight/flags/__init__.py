"""Flags: all unusual patterns in a period."""

from sqlmodel import Session

from api.oversight.flags.similar_audiences import find_near_identical
from api.oversight.flags.spending_spikes import flag_spending_spikes
from api.oversight.flags.tiny_groups import flag_tiny_groups
from api.oversight.thresholds import THRESHOLDS
from api.oversight.time_range import TimeRange
from openapi.resources import Flag, Flags


def load_flags(session: Session, period: TimeRange, auditor_id: str | None = None) -> Flags:
    """Return the flags, newest first; for one auditor, those that name it."""
    found = [
        flag
        for pattern in (flag_tiny_groups, find_near_identical, flag_spending_spikes)
        for flag in pattern(session, period)
        if auditor_id is None or auditor_id in flag.auditor_ids
    ]
    found.sort(key=lambda flag: (flag.at, flag.audience_ids, flag.mandate_id or ""), reverse=True)
    return Flags(since=period.since, until=period.until, thresholds=THRESHOLDS, flags=found)


def figures_in_words(flag: Flag) -> str:
    """Return the figures on one line: `similarity 0.9961 (threshold 0.9); …`."""
    return "; ".join(
        f"{figure.name} {figure.value}"
        + (f" (threshold {figure.threshold})" if figure.threshold is not None else "")
        for figure in flag.figures
    )
