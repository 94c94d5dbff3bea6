"""Metrics from several averages: POT's total impact, and the gap of [IKH23] between soft groups.

[OHB26] eq. 11 (DTI).  [IKH23] Imana, Korolova, Heidemann, CSCW 2023, eq. 1 (the fairness gap).
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from auditor_client.errors import InputError
from auditor_client.two_party.metrics import bin_shares, kernel_averages
from auditor_client.two_party.noisy_sums import SoftGroupSums
from auditor_client.two_party.ratios import GroupDifference, Ratios


def discounts(points: int) -> tuple[float, ...]:
    """Return weights of reference points, the highest score first: 1/log2(1 + position), with sum
    one.
    """
    raw = 1 / np.log2(np.arange(2, points + 2))
    return tuple((raw / raw.sum())[::-1].tolist())


def total_impact(
    sums: SoftGroupSums,
    first: str,
    second: str,
    weights: Sequence[float] | None = None,
    delta: float = 0.05,
) -> GroupDifference:
    """Return DTI: the excess of one group's outcomes over another's at equal scores, over all
    points.

    The points share people, so errors may add up in full: the half-width is at most the weighted
    sum of theirs.
    """
    points = len(sums.layout.cells) // 2
    chosen = discounts(points) if weights is None else tuple(weights)
    if len(chosen) != points:
        raise InputError(
            f"There are {points} reference points. Give a weight for each.", case="weight-per-point"
        )
    a, b = sums.groups.index(first), sums.groups.index(second)
    found = [kernel_averages(sums, q).difference(a, b, delta) for q in range(points)]
    # DTI = Σ_q w_q (m̂_a(s_q) - m̂_b(s_q))   [OHB26, eq. 11]
    value = sum(w * each.value for w, each in zip(chosen, found, strict=True))
    low = sum(min(w * each.low, w * each.high) for w, each in zip(chosen, found, strict=True))
    high = sum(max(w * each.low, w * each.high) for w, each in zip(chosen, found, strict=True))
    return GroupDifference(first, second, float(value), float(low), float(high))


def largest_gap(sums: SoftGroupSums, delta: float = 0.05) -> GroupDifference:
    """Return the largest difference of two groups' shares in one bin, with limits for all at once.

    The value is a maximum of estimates, so it is biased upwards. The limits hold for the true
    maximum: no bin's lower limit exceeds it, and the largest upper limit is not below it.
    """
    bins = [bin_shares(sums, number) for number in range(sums.values.shape[1])]
    pairs = list(combinations(range(len(sums.groups)), 2))
    if not pairs:
        raise InputError("A gap needs at least two groups.", case="few-groups")
    level = delta / (len(pairs) * len(bins))
    found = [_outward(each, a, b, level) for each in bins for a, b in pairs]
    worst = max(found, key=lambda each: each.value if math.isfinite(each.value) else -1.0)
    low = max(max(each.low for each in found), 0.0)
    return GroupDifference(
        worst.first, worst.second, worst.value, low, max(each.high for each in found)
    )


def _outward(found: Ratios, a: int, b: int, level: float) -> GroupDifference:
    """Return the absolute difference, with limits of the absolute value."""
    one = found.difference(a, b, level)
    if one.value >= 0:
        return GroupDifference(one.first, one.second, one.value, one.low, max(one.high, -one.low))
    return GroupDifference(one.second, one.first, -one.value, -one.high, max(-one.low, one.high))
