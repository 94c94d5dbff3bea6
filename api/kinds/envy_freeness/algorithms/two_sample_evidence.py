"""Evidence of two samples about two means, compiled.

One test of two means at once is sharper than two separate intervals, because errors add up in
squares. The claim is that the first mean a is high and the second mean b is low. The null
hypothesis is that (a, b) is on or below a line. The product of the two capitals is a martingale at
the true means. So where even its minimum over the null hypothesis is large, the null hypothesis is
rejected. The capital falls in a and grows in b, so the minimum is on the line. The logarithm of a
mixture of Π (1 + A x)/(1 + A μ) is convex in μ, so tangents find the minimum.
"""

import math
from typing import NamedTuple

from api.kinds.envy_freeness.algorithms.betting_bounds import Floats
from api.kinds.envy_freeness.algorithms.numba_cache import compiled

_CUTS = 60
# If tangents meet too close to an end, move at least this share into the remaining range.
_INSIDE = 0.05


class Side(NamedTuple):
    """Rewards on which a mixture of bets was placed: up on the first side, down on the second."""

    weights: Floats
    stakes: Floats
    grown: Floats
    pulls: int


class TangentLine(NamedTuple):
    """Line of the null hypothesis: a ≤ slope · b + offset."""

    slope: float
    offset: float


@compiled
def refuted(first: Side, second: Side, line: TangentLine, guess: float, needed: float) -> bool:
    """Return whether ln of the capital is at least `needed` over the whole null hypothesis.

    `guess` is b at the likeliest point of the null hypothesis: most claims that are not refuted end
    there.
    """
    lowest = max(-line.offset / line.slope, 0.0)
    left, right = lowest, 1.0
    at_left = at_right = slope_left = slope_right = math.nan
    b = min(max(guess, lowest), 1.0)
    for _ in range(_CUTS):
        value, slope = _capital(first, second, line, b)
        if value < needed:
            return False
        if slope < 0:
            left, at_left, slope_left = b, value, slope
        else:
            right, at_right, slope_right = b, value, slope
        if slope == 0 or (slope < 0 and b == 1.0) or (slope > 0 and b == lowest):
            return True
        if math.isnan(at_left):
            b = lowest
        elif math.isnan(at_right):
            b = 1.0
        else:
            run = at_right - at_left + slope_left * left - slope_right * right
            meet = run / (slope_left - slope_right)
            if at_left + slope_left * (meet - left) >= needed:
                return True
            inside = _INSIDE * (right - left)
            b = min(max(meet, left + inside), right - inside)
    return False


@compiled
def _capital(first: Side, second: Side, line: TangentLine, b: float) -> tuple[float, float]:
    """Return ln of the product of both capitals on the line, and its slope in b."""
    a = line.slope * b + line.offset
    value, slope = _mixture(second, b)
    above, steep = _mixture(first, min(max(a, 0.0), 1.0))
    return value + above, slope + (steep * line.slope if a < 1 else 0.0)


@compiled
def _mixture(side: Side, mean: float) -> tuple[float, float]:
    """Return ln Σ_i w_i Π (1 + A_i x)/(1 + A_i μ), and its slope in μ."""
    weights, stakes, grown, pulls = side
    most, total, slope = -math.inf, 0.0, 0.0
    for bet in range(len(stakes)):
        whole = 1 + stakes[bet] * mean
        left = weights[bet] + grown[bet] - pulls * math.log(whole)
        falls = -pulls * stakes[bet] / whole
        if left > most:
            shrunk = math.exp(most - left)
            most, total, slope = left, total * shrunk + 1, slope * shrunk + falls
        else:
            share = math.exp(left - most)
            total += share
            slope += share * falls
    return most + math.log(total), slope / total
