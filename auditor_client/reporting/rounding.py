"""Numbers for readers: few digits, and limits rounded outwards."""

import math
from collections.abc import Iterable, Sequence

from auditor_client.reporting.metric_sentences import round_down, round_up

UNKNOWN = "–"
_MOST_DECIMALS = 6


def decimals_for(low: float, high: float) -> int:
    """Return the number of decimals that shows the width of an interval with two digits."""
    width = high - low
    if not math.isfinite(width) or width <= 0:
        return 3
    return min(max(1 - math.floor(math.log10(width)), 0), _MOST_DECIMALS)


def format_interval(low: float, high: float, decimals: int | None = None) -> str:
    """Return limits in words, rounded outwards: "between 0.12 and 0.34"."""
    shown = decimals_for(low, high) if decimals is None else decimals
    if math.isinf(low) and math.isinf(high):
        return "anywhere"
    if math.isinf(high):
        return f"at least {round_down(low, shown)}"
    if math.isinf(low):
        return f"at most {round_up(high, shown)}"
    return f"between {round_down(low, shown)} and {round_up(high, shown)}"


def lower(value: float | None, decimals: int = 3) -> str:
    """Return a lower limit, rounded down."""
    return UNKNOWN if value is None or not math.isfinite(value) else round_down(value, decimals)


def upper(value: float | None, decimals: int = 3) -> str:
    """Return an upper limit, rounded up."""
    return UNKNOWN if value is None or not math.isfinite(value) else round_up(value, decimals)


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number with a fixed number of decimals, or a dash."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def error(value: float) -> str:
    """Return an error with two digits, rounded up: "±3", "±0.012", "±384,000"."""
    if not math.isfinite(value):
        return "±∞"
    if value == 0 or float(value).is_integer():
        return f"±{value:,.0f}"
    decimals = min(max(1 - math.floor(math.log10(abs(value))), 0), _MOST_DECIMALS)
    return f"±{math.ceil(value * 10**decimals - 1e-9) / 10**decimals:,.{decimals}f}"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.{decimals}f} %"


def confidence(delta: float) -> str:
    """Return the confidence 1 - delta as a percentage."""
    return f"{100 * (1 - delta):.4g} % confidence"


def join_words(parts: Iterable[str]) -> str:
    """Return "a, b and c"."""
    found: Sequence[str] = list(parts)
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1]))) if found else ""
