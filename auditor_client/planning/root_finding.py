"""Root finding: the people, alpha or epsilon at which a power reaches the wanted one.

Powers come from simulations, so they rise with some random error. Searches interpolate linearly in
normal deviations and end when a step would change less than one in a hundred. For an increasing
function without random error, `find_least_whole` finds the smallest whole number of people.
"""

import math
from collections.abc import Callable

from scipy import special

MOST_PEOPLE = 10_000_000
_PRECISION = 0.01
_STEPS = 14
_STRIDE = 1.4
# Approximate normal deviation of the power without people.
_START = -2.7


def deviation(power: float) -> float:
    """Return the normal deviation of a power, clipped to a useful range."""
    return float(special.ndtri(min(max(power, 0.004), 0.996)))


def find_people(power_of: Callable[[int], float], wanted: float, guess: int) -> int:
    """Return the approximate smallest number of people with the wanted power."""
    target, low, high = deviation(wanted), 1.0, math.inf
    at, last = float(max(guess, 2)), (0.0, _START)
    for _ in range(_STEPS):
        found = deviation(power_of(round(at)))
        low, high = (at, high) if found < target else (low, at)
        slope = (found - last[1]) / (math.sqrt(at) - last[0]) if at != last[0] ** 2 else 0.0
        if slope <= 0:
            slope = max(found - _START, 0.3) / math.sqrt(at)
        last = math.sqrt(at), found
        aim = max(math.sqrt(at) + (target - found) / slope, 1.0) ** 2
        aim = min(max(aim, at / 2), at * 2)
        if not low < aim < high:
            aim = math.sqrt(low * high)
        if abs(aim - at) <= max(_PRECISION * at, 0.5) or high - low <= 1:
            return math.ceil(aim if high - low > 1 else high)
        if aim > MOST_PEOPLE:
            raise ValueError(f"more than {MOST_PEOPLE:,} people per group would be needed")
        at = aim
    return math.ceil(high if math.isfinite(high) else at)


def find_least(
    enough: Callable[[float], bool], low: float, high: float, guess: float
) -> float | None:
    """Return the smallest sufficient value between two, to a hundredth; return None if none is."""
    under, over = low, high
    at = min(max(guess, low), high)
    if enough(at):
        while at > low and enough(at):
            over, at = at, max(at / _STRIDE, low)
        under = at
    else:
        while at < high and not enough(at):
            under, at = at, min(at * _STRIDE, high)
        over = at
    if not enough(over):
        return None
    if enough(under):
        return under
    while over > under * (1 + _PRECISION):
        middle = math.sqrt(under * over)
        under, over = (under, middle) if enough(middle) else (middle, over)
    return over


def find_least_whole(value_of: Callable[[int], float], guess: int) -> int:
    """Return the smallest number of people at which an increasing value is not negative, by
    secants.
    """
    low, high = 0, math.inf
    at, last = max(guess, 1), (0, -math.inf)
    while True:
        found = value_of(at)
        low, high = (at, high) if found < 0 else (low, at)
        if high - low <= 1:
            return int(high)
        slope = (found - last[1]) / (at - last[0])
        aim = at - found / slope if 0 < slope < math.inf else at * _nearby(found)
        last = at, found
        # From below, aim at the smallest number itself; from above, at the last that is too small.
        aim = min(max(aim, at / 2), at * 2)
        at = min(max(math.ceil(aim) if found < 0 else math.floor(aim), low + 1), _before(high))


def _before(high: float) -> int:
    return int(high) - 1 if math.isfinite(high) else MOST_PEOPLE


def _nearby(value: float) -> float:
    """Return the next point to try if there is no slope yet."""
    if math.isinf(value):
        return 2.0
    return 1.1 if value < 0 else 0.9
