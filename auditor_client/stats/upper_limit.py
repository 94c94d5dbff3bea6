"""Upper confidence limit of a difference of two shares, from the tests of `difference_test`.

The search may start anywhere: a limit is returned only after it was rejected, and a rejected
difference rejects all larger ones.
"""

from auditor_client.stats.difference_test import Contrast, Level, least_favourable

# Precision of a limit, in standard deviations.
_TOLERANCE = 0.03
# Level at which a search starts; the level of the test may differ.
_USUAL = 0.02
# Number of steps by a normal approximation; after them the search bisects.
_AIMED = 6


def contrast_upper_limit(contrast: Contrast, level: Level, low: float, high: float) -> float:
    """Return a rejected difference in [low, high] close to the smallest one; `high` if none is
    rejected.
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
        # Step slightly beyond the aim, so that both ends converge on it.
        at += found.missing + (-tolerance if found.rejected else tolerance) / 3
