"""Power of simulated audits for verdicts about thresholds, by normal tails.

The releases are those of `simulated_releases`, and the tests those of `thresholds`. Normal tails
replace exact sums, because a tail is a sum of many people and noises. Bins with people come first
and empty ones after them, as on the hardest platform. No verdict depends on this module.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.fairness.bin_tests import _SHARES, _SIZES
from auditor_client.fairness.thresholds import _RIGHT, both_sides, edge_levels
from auditor_client.planning.power_simulation import AuditDesign, Outcome
from auditor_client.planning.simulated_releases import Releases, draw
from auditor_client.stats.centred_difference import _CELL
from auditor_client.stats.noise import Floats, variance

# Of a level, what private sizes cost where both sides of an edge are counted.
_CENTRED = 0.07
# Width of two cells of the grid of shares, in standard deviations at one half.
_CELLS = 2 * _CELL * 0.5
# The largest number of edges that are tested; between them shares hardly differ.
_MOST_EDGES = 12
# Distance of the largest plausible share from the measured one, in standard deviations.
_PLAUSIBLE = 3.0


def decide_by_thresholds(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, delta: float
) -> NDArray[np.bool_]:
    """Return, approximately, which drawn audits end in the verdict by thresholds."""
    level = delta / 2 / (1 if verdict == "fair" else design.pairs)
    drawn = draw(design, people, gap, level if design.exact else level * _SIZES / 4)
    level *= (1 - _CENTRED) * (1 - _SHARES)
    filled = drawn.filled.shape[2]
    edges = np.unique(np.linspace(1, min(filled, design.bins - 1), _MOST_EDGES).astype(int))
    if not len(edges) or design.bins < 2:
        return np.full(len(drawn.filled), verdict == "fair")
    running = np.cumsum(drawn.filled, axis=2)
    whole = running[:, :, -1] + drawn.empty.sum(axis=2)
    parts = edge_levels(design.bins - 1)
    found = [
        _margin(design, drawn, running[:, :, edge - 1], whole, int(edge), pair, verdict, at)
        for edge in edges
        for at in [level if verdict == "fair" else level * _RIGHT * float(parts[edge - 1])]
        for pair in permutations(range(design.groups), 2)
    ]
    decided = np.min(found, axis=0) if verdict == "fair" else np.max(found, axis=0)
    return np.asarray((decided >= 0) & ~drawn.silent)


def _margin(
    design: AuditDesign,
    drawn: Releases,
    below: Floats,
    whole: Floats,
    edge: int,
    pair: tuple[int, int],
    verdict: Outcome,
    level: float,
) -> Floats:
    """Return the margin by which one edge and ordered pair clear alpha; the first group has more
    above.
    """
    if both_sides(design.bins, design.distribution, known=design.exact):
        # An upper limit of the difference turned round is minus the lower limit.
        one, other = pair if verdict == "fair" else pair[::-1]
        limit = _centred(design, below, whole, edge, (one, other), level)
        spare = design.alpha - limit if verdict == "fair" else -limit - design.alpha
        return np.asarray(spare, np.float64)
    lower = 2 * edge <= design.bins
    counts = below if lower else whole - below
    noises = min(edge, design.bins - edge) * variance(design.distribution)
    # P(R > t | more) - P(R > t | less): below the edge the groups are exchanged.
    one, other = (pair[1], pair[0]) if lower else pair
    if verdict == "unfair":
        # An upper limit of the reversed difference is minus the lower limit.
        one, other = other, one
    few, many = drawn.low[:, one], drawn.high[:, other]
    ratio = drawn.stated[:, one] / np.maximum(drawn.stated[:, other], 1.0)
    pooled = np.clip(
        (counts[:, one] + counts[:, other]) / (drawn.stated[:, one] + drawn.stated[:, other]), 0, 1
    )
    spread = np.sqrt(pooled * (1 - pooled) * (few + ratio**2 * many) + (1 + ratio**2) * noises)
    observed = counts[:, one] - ratio * counts[:, other]
    reach = observed - special.ndtri(level) * spread
    # E(C_one - r C_other) = v·few - r·(v - d)·many: the worst v is the largest plausible one.
    most = np.minimum(pooled + _PLAUSIBLE * spread / np.maximum(few, 1.0) / 2, 1.0)
    limit = (reach + most * np.maximum(ratio * many - few, 0.0)) / np.maximum(ratio * many, 1.0)
    missing = drawn.missing[:, one]
    spare = design.alpha - limit if verdict == "fair" else -limit - design.alpha
    return np.asarray(spare - missing, np.float64)


def _centred(
    design: AuditDesign,
    below: Floats,
    whole: Floats,
    edge: int,
    pair: tuple[int, int],
    level: float,
) -> Floats:
    """Return about the upper limit of P(R > t | first) - P(R > t | second), by both sides of t."""
    apart, spread, fewest = np.zeros(len(whole)), np.zeros(len(whole)), np.full(len(whole), np.inf)
    cells = edge, design.bins - edge
    for group, sign in zip(pair, (1, -1), strict=True):
        people = np.maximum(whole[:, group], 1.0)
        share = np.clip(1 - below[:, group] / people, 0, 1)
        noises = (share**2 * cells[0] + (1 - share) ** 2 * cells[1]) * variance(design.distribution)
        apart += sign * share
        spread += (share * (1 - share) * people + noises) / people**2
        fewest = np.minimum(fewest, people)
    # The grid of shares, and half a person of each group for all numbers of people together.
    rounding = _CELLS / np.sqrt(fewest) + 1 / fewest
    return np.asarray(apart - special.ndtri(level) * np.sqrt(spread) + rounding, np.float64)
