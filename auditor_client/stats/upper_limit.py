"""The upper confidence limit for a difference of two shares: where `rejection` begins.

The search may start and aim anywhere: a limit is returned only after it was rejected, and a
rejected difference rejects all larger ones.
"""

from auditor_client.stats.difference_test import Contrast, Level, least_favourable

# Precision of a limit, in standard deviations.
_TOLERANCE = 0.03
# Where a search starts; the level itself may differ.
_USUAL = 0.02
# Steps that aim by a normal approximation; after them the search halves.
_AIMED = 6


def contrast_upper_limit(contrast: Contrast, level: Level, low: float, high: float) -> float:
    """Return a difference in [low, high] that is rejected, close to the least one; `high` if none
    is.
    """
    if least_favourable(contrast, low, level).rejected:
        return low
    at, tries = contrast.approximate(_USUAL), 0
    while True:
        tries += 1
        if not low < at < high or tries > _AIMED:
            at = (low + high) / 2
        found = least_favourable(contrast, at, level)
        low, high = (low, at) if found.rejected else (at, high)
        tolerance = _TOLERANCE * found.spread
        if high - low <= tolerance:
            return high
        # A little beyond the aim, so that the two ends close in on it from both sides.
        at += found.missing + (-tolerance if found.rejected else tolerance) / 3
