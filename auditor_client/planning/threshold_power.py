"""Power of simulated audits for verdicts about thresholds, by normal tails.

The releases are those of `simulated_releases`, and the tests those of `thresholds`. Normal tails
replace exact sums, because a tail is a sum of many people and noises. Bins with people come first
and empty ones after them, as on the hardest platform. No verdict depends on this module.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.fairness.bin_tests import _SHARES, _SIZES
from auditor_client.fairness.thresholds import (
    _MISSING,
    _MOST_CENTRED,
    _RATIO,
    _RIGHT,
    both_sides,
    edge_levels,
)
from auditor_client.fairness.thresholds import _SIZES as _SIZES_OF_BOTH
from auditor_client.planning.power_simulation import AuditDesign, Outcome
from auditor_client.planning.share_limits import share_limits
from auditor_client.planning.simulated_releases import Releases, draw
from auditor_client.stats.centred_difference import _CELL, _FINEST, _STEPS
from auditor_client.stats.difference_test import _CELL as _ONE_SIDED_CELL
from auditor_client.stats.noise import Floats, sum_of_draws, variance

# The largest number of edges that are tested; between them shares hardly differ.
_MOST_EDGES = 12
# The law of a group is rounded three times, by half a step on average.
_ROUNDED = 1.5
# Number of shares that are tried in the plausible range.
_LOOKS = 5


def decide_by_thresholds(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, delta: float
) -> NDArray[np.bool_]:
    """Return, approximately, which drawn audits end in the verdict by thresholds."""
    level = delta / 2 / (1 if verdict == "fair" else design.pairs)
    parts = edge_levels(max(design.bins - 1, 1))
    least = level if verdict == "fair" else level * _RIGHT * float(parts.min())
    test, of_sizes = _by_one_side, _SIZES
    if _counts_both(design, verdict):
        test, of_sizes = _by_both_sides, _SIZES_OF_BOTH
    drawn = draw(design, people, gap, least if design.exact else least * of_sizes / 4)
    filled = drawn.filled.shape[2]
    edges = np.unique(np.linspace(1, min(filled, design.bins - 1), _MOST_EDGES).astype(int))
    if not len(edges) or design.bins < 2:
        return np.full(len(drawn.filled), verdict == "fair")
    running = np.cumsum(drawn.filled, axis=2)
    whole = running[:, :, -1] + drawn.empty.sum(axis=2)
    found = []
    for edge in edges:
        below, at = running[:, :, edge - 1], level
        if verdict == "unfair":
            at = level * _RIGHT * float(parts[edge - 1])
        for pair in permutations(range(design.groups), 2):
            # An upper limit of the difference turned round is minus the lower limit.
            asked = (pair, design.alpha) if verdict == "fair" else (pair[::-1], -design.alpha)
            found.append(test(design, drawn, below, whole, int(edge), *asked, at))
    decided = np.all(found, axis=0) if verdict == "fair" else np.any(found, axis=0)
    return np.asarray(decided & ~drawn.silent)


def _counts_both(design: AuditDesign, verdict: Outcome) -> bool:
    claims = 2 * design.pairs * (design.bins - 1)
    if verdict == "fair" and claims > _MOST_CENTRED:
        return False
    return both_sides(design.bins, design.distribution, known=design.exact)


def _by_one_side(
    design: AuditDesign,
    drawn: Releases,
    below: Floats,
    whole: Floats,
    edge: int,
    pair: tuple[int, int],
    difference: float,
    level: float,
) -> NDArray[np.bool_]:
    """Return whether P(R > t | first) - P(R > t | second) is certainly less than `difference`, by
    the side of t with less noise.
    """
    level *= (1 - _SHARES) * (1.0 if design.exact else 1 - _SIZES)
    lower = 2 * edge < design.bins
    counts = below if lower else whole - below
    noises = min(edge, design.bins - edge) * variance(design.distribution)
    # Below the edge the groups are exchanged.
    one, other = pair[::-1] if lower else pair
    few, many = drawn.low[:, one], drawn.high[:, other]
    ratio = drawn.stated[:, one] / np.maximum(drawn.stated[:, other], 1.0)
    cells, noises = min(edge, design.bins - edge), variance(design.distribution)
    limits = [
        _plausible(design, drawn, counts[:, group], group, cells, level * _SHARES / 4)
        for group in (one, other)
    ]
    reach = difference - drawn.missing[:, one]

    def is_rejected(v: Floats) -> NDArray[np.bool_]:
        spread = np.sqrt(
            few * v * (1 - v)
            + ratio**2 * many * np.clip(v - reach, 0, 1) * np.clip(1 - v + reach, 0, 1)
            + (1 + ratio**2) * cells * noises
        )
        width = _ONE_SIDED_CELL * spread / few
        w = np.clip(v + width - reach, 0, 1)
        # Half a step of a whole count
        value = counts[:, one] - ratio * counts[:, other] - few * v + ratio * many * w + 0.5
        return np.asarray(value <= special.ndtri(level) * spread)

    return _rejects_all(limits, reach, is_rejected)


def _rejects_all(
    limits: Sequence[tuple[Floats, Floats]],
    difference: Floats | float,
    is_rejected: Callable[[Floats], NDArray[np.bool_]],
) -> NDArray[np.bool_]:
    """Return whether all plausible first shares that exceed the second by `difference` are
    rejected.
    """
    (low, high), (other_low, other_high) = limits
    first, last = np.maximum(low, other_low + difference), np.minimum(high, other_high + difference)
    reach = np.maximum(last - first, 0)
    found = np.all(
        [is_rejected(np.clip(first + look * reach, 0, 1)) for look in np.linspace(0, 1, _LOOKS)],
        axis=0,
    )
    # No plausible shares are that far apart, or all are.
    return np.asarray((found & (low - other_high <= difference)) | (high - other_low < difference))


def _by_both_sides(
    design: AuditDesign,
    drawn: Releases,
    below: Floats,
    whole: Floats,
    edge: int,
    pair: tuple[int, int],
    difference: float,
    level: float,
) -> NDArray[np.bool_]:
    """Return the same by both sides of t, as `stats.centred_difference` tests it."""
    one, other = pair
    above, cells = whole - below, (design.bins - edge, edge)
    # Parts of the level, also where sizes are known: for sizes, and for the check of all people
    level *= 1 - _SIZES_OF_BOTH - _MISSING
    part, level = level * _SHARES / 4, level * (1 - _SHARES)
    limits = [_plausible(design, drawn, above[:, group], group, cells[0], part) for group in pair]
    # Shares lie in cells of a grid: the test uses the better ends, the limit the worse ones.
    people, noises = drawn.low[:, pair], design.bins * variance(design.distribution)
    spread_of_shares = (np.sqrt(people + noises) / 2 / people).min(axis=1)
    step = 2.0 ** np.round(np.log2(_CELL * spread_of_shares))

    def is_rejected(v: Floats) -> NDArray[np.bool_]:
        u = np.clip(v - step, 0, 1)
        w = np.clip(u - difference + 2 * step, 0, 1)
        rejected = np.ones(len(whole), dtype=np.bool_)
        for weight, asked in _weights(design, drawn, pair):
            spread = np.sqrt(
                _variance(design, drawn.high[:, one], u, cells)
                + weight**2 * _variance(design, drawn.high[:, other], w, cells)
            )
            value = above[:, one] - u * whole[:, one]
            value = value - weight * (above[:, other] - w * whole[:, other])
            # Half a person of each group, and its law rounded to a lattice
            value += (1 + weight) * (0.5 + _ROUNDED * np.maximum(_FINEST, spread / _STEPS))
            rejected &= ~asked | (value <= special.ndtri(level) * spread)
        return rejected

    return _rejects_all(limits, difference, is_rejected)


def _plausible(
    design: AuditDesign,
    drawn: Releases,
    above: Floats,
    group: int,
    cells: int,
    level: float,
) -> tuple[Floats, Floats]:
    """Return the limits of a group's share above the edge, as in `chernoff.limits`."""
    law = sum_of_draws(design.distribution, cells)
    few, many = drawn.low[:, group], drawn.high[:, group]
    return 1 - share_limits(many - above, many, law, level), share_limits(above, few, law, level)


def _variance(design: AuditDesign, people: Floats, share: Floats, cells: tuple[int, int]) -> Floats:
    """Return the variance of C - share·(C + R), with C people above the edge and R below it."""
    inside, outside = cells
    noises = ((1 - share) ** 2 * inside + share**2 * outside) * variance(design.distribution)
    return np.asarray(people * share * (1 - share) + noises)


def _weights(
    design: AuditDesign, drawn: Releases, pair: tuple[int, int]
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Yield weights of the second group and the audits that use each (`thresholds._ratios`)."""
    one, other = pair
    if design.sizes != "estimated" or design.exact:
        ratio = drawn.stated[:, one] / np.maximum(drawn.stated[:, other], 1.0)
        yield ratio, np.ones(len(ratio), dtype=np.bool_)
        return
    start = np.round(np.log(drawn.low[:, one] / drawn.high[:, other]) / math.log(_RATIO))
    stop = np.round(np.log(drawn.high[:, one] / drawn.low[:, other]) / math.log(_RATIO))
    for number in range(int(start.min()), int(stop.max()) + 1):
        weight = np.full(len(start), _RATIO**number)
        yield weight, (start <= number) & (number <= stop)
