"""Lines of the four-fifths rule for the penalty.

The rule requires the smallest utility to be at least four fifths of the largest. With two groups,
this is a penalty of at most 1/9. With more, utilities in between matter: below one line the rule
certainly holds, above another it is certainly violated, and between them the ratio itself decides.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, §4.3: the line of 11.1 %, which is for two groups.
"""

import math
from dataclasses import dataclass

from auditor_client.errors import InputError

FOUR_FIFTHS = 0.8


@dataclass(frozen=True)
class Lines:
    """Lines of the penalty: at most `holds`, the rule holds; above `broken`, it is violated, for
    all utilities.
    """

    holds: float
    broken: float


def four_fifths(groups: int, ratio: float = FOUR_FIFTHS) -> Lines:
    """Return the lines for this number of groups; for two, both are (1 - ratio) / (1 + ratio)."""
    if groups < 2 or not 0 < ratio < 1:
        raise InputError("The rule compares at least two groups by a ratio between 0 and 1.")
    return Lines(_least(groups, ratio), _most(groups, ratio))


def _least(groups: int, ratio: float) -> float:
    """Return the smallest penalty of utilities that touch or violate the rule.

    One is `ratio`, one is 1, and the others minimise Σu²/(Σu)²: they equal Σu²/Σu of these two.
    """
    others = (1 + ratio**2) / (1 + ratio)
    mean = (1 + ratio + (groups - 2) * others) / groups
    squares = (1 - mean) ** 2 + (ratio - mean) ** 2 + (groups - 2) * (others - mean) ** 2
    return math.sqrt(squares / groups) / mean


def _most(groups: int, ratio: float) -> float:
    """Return the largest penalty of utilities that satisfy the rule: each at one end, j of them at
    the lower.

    {std <= c·mean} is convex, so the maximum over the box [ratio, 1]^K is at a corner.
    """
    # std² = j(K - j)(1 - ratio)²/K², mean = (j·ratio + K - j)/K
    return max(
        math.sqrt(j * (groups - j)) * (1 - ratio) / (j * ratio + groups - j)
        for j in range(1, groups)
    )
