"""The four-fifths rule's implications for the penalty.

The rule asks the least utility to be at least four fifths of the largest. With two groups, that is
a penalty of at most 1/9. With more, utilities in between matter: below one line the rule surely
holds, above another it is surely broken, and between them the ratio itself must be looked at.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, §4.3: the line of 11.1 %, which is for two groups.
"""

import math
from dataclasses import dataclass

from auditor_client.errors import InputError

FOUR_FIFTHS = 0.8


@dataclass(frozen=True)
class Lines:
    """Below `holds` the rule holds, above `broken` it is broken, whatever the utilities are."""

    holds: float
    broken: float


def four_fifths(groups: int, ratio: float = FOUR_FIFTHS) -> Lines:
    """Return the lines for this number of groups; for two, both are (1 - ratio) / (1 + ratio)."""
    if groups < 2 or not 0 < ratio < 1:
        raise InputError("The rule compares at least two groups by a ratio between 0 and 1.")
    return Lines(_least(groups, ratio), _most(groups, ratio))


def _least(groups: int, ratio: float) -> float:
    """Return the least penalty of utilities that touch or break the rule.

    One is `ratio`, one is 1, and the others lie where Σu²/(Σu)² is least: at Σu²/Σu of these two.
    """
    others = (1 + ratio**2) / (1 + ratio)
    mean = (1 + ratio + (groups - 2) * others) / groups
    squares = (1 - mean) ** 2 + (ratio - mean) ** 2 + (groups - 2) * (others - mean) ** 2
    return math.sqrt(squares / groups) / mean


def _most(groups: int, ratio: float) -> float:
    """Return the largest penalty of utilities that keep the rule: each at one end, j of them at the
    lower.

    {std <= c·mean} is convex, so the maximum over the box [ratio, 1]^K is at a corner.
    """
    # std² = j(K - j)(1 - ratio)²/K², mean = (j·ratio + K - j)/K
    return max(
        math.sqrt(j * (groups - j)) * (1 - ratio) / (j * ratio + groups - j)
        for j in range(1, groups)
    )
