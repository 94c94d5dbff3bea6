"""Default edges of score bins: their number fits people and noise, and bins are finer at the top.

Bins of the upper half of the range are half as wide as those of the lower half, because selections
happen at high scores. Their number is the largest whose verdict the people still reach, up to 15
bins, and 24 where they reach one at half of alpha. It follows from a normal approximation of
`sample_size.verdict_size`, which needs no SciPy, so that SDK, command, study files and console
propose the same edges (docs/explanation/planning.md). Edges depend on public facts alone: the range
of scores, the people uploaded, and the noise that is paid for.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

# Numbers of bins of the lower half; the upper half has twice the number. The usual number is for
# plans with an unknown number of people.
LEAST, USUAL, MOST = 2, 5, 8
# Single bins show a smooth bias only while they are wide.
_MOST_OF_BINS = 3
# Assumed share of an upload that matches, for forecasts.
MATCHED = 2 / 3
# The impact ratio is judged where this share of people is above an edge, and 4/5 is the line.
_LEAST_SHARE, _LINE = 0.2, 0.8
# As `fairness.thresholds`: the number of edges among which most of a level is divided.
_EDGES_THAT_COUNT = 10
# As `fairness.thresholds`: the variance of all bins from which both sides of an edge count.
_BOTH_SIDES = 30

# As `stats.centred_difference`: deviations of a size at its limit, and what rounding adds to a
# difference, in people and per root of the people.
_SIZE_LIMIT, _ROUNDING, _GRID = 3.2, 1.4, 0.04

Criterion = Literal["distribution", "bins", "four-fifths"]


@dataclass(frozen=True, slots=True)
class BinsQuestion:
    """Facts that determine the edges: people of the smallest group, and variances of the noise.

    `size_variance` is that of the number of people: 0 if it is known.
    """

    people: float
    variance: float
    size_variance: float = 0.0
    groups: int = 2
    alpha: float = 0.2
    delta: float = 0.05
    criterion: Criterion = "distribution"


def default_edges(low: float, high: float, asked: BinsQuestion) -> list[float]:
    """Return the edges of the bins for these people and this noise."""
    return edges_of(low, high, bins_below_middle(asked))


def edges_of(low: float, high: float, below: int) -> list[float]:
    """Return `below` equal bins of the lower half of the range, and twice that number of the upper
    half.
    """
    shares = [k / (2 * below) for k in range(below)] + [
        0.5 + k / (4 * below) for k in range(2 * below + 1)
    ]
    inner = [_short(low + (high - low) * share, high - low) for share in shares[1:-1]]
    return [float(low), *inner, float(high)]


def bins_below_middle(asked: BinsQuestion) -> int:
    """Return the largest number of bins of the lower half for which there are enough people."""
    most = _MOST_OF_BINS if asked.criterion == "bins" else USUAL
    found = next((n for n in range(most, LEAST, -1) if carried(asked, 3 * n)), LEAST)
    if found < USUAL:
        return found
    # More edges share the level, so only large audiences gain by them.
    sharper = replace(asked, alpha=asked.alpha / 2)
    return next((n for n in range(MOST, USUAL, -1) if carried(sharper, 3 * n)), USUAL)


def carried(asked: BinsQuestion, bins: int) -> bool:
    """Return whether, approximately, the people are enough for a verdict with this number of
    bins.
    """
    n, cells = asked.people, bins + 1
    pairs = asked.groups * (asked.groups - 1) / 2
    normal = NormalDist()
    apart = normal.inv_cdf(1 - asked.delta) + normal.inv_cdf(1 - 0.2 / (4 * pairs))
    if asked.criterion == "four-fifths":
        # A fair platform passes at every pair; an unfair one, with a ratio of .64, fails at one
        # edge, which has its part of the level.
        edges = min(bins, _EDGES_THAT_COUNT)
        at_one = normal.inv_cdf(1 - asked.delta / (edges * 2 * pairs)) + normal.inv_cdf(0.8)
        equal, less = (_log_variance(asked, cells, share) for share in (1.0, _LINE**2))
        return max(apart * math.sqrt(2 * equal), at_one * math.sqrt(equal + less)) <= -math.log(
            _LINE
        )
    # An edge in the middle has half of the people above it. Both sides count, each with half of the
    # weight, or one side, where there is little noise and the size is known.
    noises = cells * asked.variance
    noises /= 2 if asked.size_variance == 0 and noises < _BOTH_SIDES else 4
    # Private sizes enter by their upper limit; the grid of shares and whole people cost the rest.
    most = n + _SIZE_LIMIT * math.sqrt(_size_variance(asked, cells))
    rounding = _ROUNDING + _GRID * math.sqrt(n)
    return apart * math.sqrt(2 * (most / 4 + noises)) + rounding <= asked.alpha * n


def _log_variance(asked: BinsQuestion, cells: int, ratio: float) -> float:
    """Return the variance of the logarithm of a measured share: `ratio` times the least share."""
    share = _LEAST_SHARE * ratio
    count = max(asked.people * share, 1e-9)
    noise = _LEAST_SHARE * cells * asked.variance + share**2 * _size_variance(asked, cells)
    return (1 - share) / count + noise / count**2


def _size_variance(asked: BinsQuestion, cells: int) -> float:
    """Return the variance of the number of people, of both sources together; 0 if it is known."""
    if asked.size_variance == 0:
        return 0.0
    own = cells * asked.variance
    return 1 / (1 / own + 1 / asked.size_variance) if own > 0 else 0.0


def laplace_variance(scale: float) -> float:
    """Return the variance of discrete Laplace noise."""
    ratio = math.exp(-1 / scale)
    return 2 * ratio / (1 - ratio) ** 2


def _short(value: float, span: float) -> float:
    """Return the number with the fewest decimal places that distinguish the edges."""
    places = max(3 - math.floor(math.log10(span)), 0) if span > 0 else 3
    return round(value, min(places, 15))
