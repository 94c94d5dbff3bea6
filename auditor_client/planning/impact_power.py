"""People for a verdict by the four-fifths rule, forecast with normal errors of the log ratio.

The platform is the hardest relevant one: above one edge, each group has exactly the smallest share
that counts. A fair platform has a ratio of 1 there. An unfair one is at the same distance below 4/5
as 1 is above it, in logarithms.
"""

import math

from scipy import special

from auditor_client.fairness.thresholds import edge_levels
from auditor_client.fairness.worst_impact import FOUR_FIFTHS, LEAST_SHARE
from auditor_client.stats.noise import AnyNoise, variance

# As in `worst_impact`: a tenth of the level excludes edges.
_TESTED = 0.9
_MOST = 10_000_000


def four_fifths_size(
    delta: float,
    groups: int,
    bins: int,
    noise: AnyNoise,
    power: float,
    *,
    size_variance: float = 0.0,
    least_share: float = LEAST_SHARE,
) -> int:
    """Return the approximate number of people per group at which both verdicts have the power.

    `size_variance` is that of the number of people, where it is private.
    """
    ordered = groups * (groups - 1)
    edge = float(edge_levels(max(bins - 1, 1)).max())
    levels = delta * _TESTED, 2 * delta * edge / ordered
    # All pairs must pass on a fair platform, so the power is shared.
    wanted = 1 - (1 - power) / (groups - 1), power
    deviations = max(
        -float(special.ndtri(level)) + float(special.ndtri(at))
        for level, at in zip(levels, wanted, strict=True)
    )
    cells = max(math.ceil(least_share * bins), 1)
    noises = cells * variance(noise) + least_share**2 * size_variance
    low, high = 1, 2
    while not _resolves(high, deviations, noises, least_share):
        low, high = high, 2 * high
        if high > _MOST:
            raise ValueError(f"more than {_MOST:,} people per group would be needed")
    while high - low > 1:
        middle = (low + high) // 2
        enough = _resolves(middle, deviations, noises, least_share)
        low, high = (low, middle) if enough else (middle, high)
    return high


def _resolves(people: int, deviations: float, noise: float, share: float) -> bool:
    count = people * share
    # Var(log ratio), from sampling and noise
    spread = 2 * ((1 - share) / count + noise / count**2)
    return deviations * math.sqrt(spread) <= -math.log(FOUR_FIFTHS)
