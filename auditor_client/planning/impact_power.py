"""Power of simulated audits for verdicts by the four-fifths rule, by normal tails.

The releases are those of `simulated_releases`, and the tests those of `worst_impact`. An edge
counts if the better-served group may have the least share above it. `fair` needs every ratio that
counts to be certainly at least 4/5, and `unfair` needs one that is certainly below. Normal tails
replace exact sums. No verdict depends on this module.
"""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from auditor_client.fairness.bin_tests import _SHARES, _SIZES
from auditor_client.fairness.metrics.event_shares import _CELLS
from auditor_client.fairness.thresholds import edge_levels
from auditor_client.fairness.worst_impact import _SELECTION, FOUR_FIFTHS
from auditor_client.planning.power_simulation import AuditDesign, Outcome
from auditor_client.planning.share_limits import share_limits
from auditor_client.planning.simulated_releases import Releases, draw
from auditor_client.stats.noise import Floats, sum_of_draws

# The largest number of edges that are tested, and the number of shares that are tried at each.
_MOST_EDGES = 12
_LOOKS = 3


def decide_by_ratio(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, delta: float
) -> NDArray[np.bool_]:
    """Return, approximately, which drawn audits end in the verdict, on a platform whose worst ratio
    is 1 - gap.
    """
    if design.bins < 2:
        return np.zeros(1, dtype=np.bool_)
    parts = edge_levels(design.bins - 1)
    found = []
    for edge in _edges(design):
        whole = delta / 2 * (1 - _SELECTION)
        if verdict == "unfair":
            whole = delta / 2 * float(parts[edge - 1]) / (design.groups * (design.groups - 1))
        own = whole if design.exact else whole * (1 - _SIZES)
        drawn = draw(design, people, gap, whole if design.exact else whole * _SIZES / 4)
        above = drawn.counts[:, :, edge:].sum(axis=2)
        counts = _may_count(design, drawn, above, edge, delta / 2 * _SELECTION)
        for one, other in permutations(range(design.groups), 2):
            limit = 1 / FOUR_FIFTHS if verdict == "fair" else FOUR_FIFTHS
            certain = _is_below(design, drawn, above, edge, (one, other), limit, own)
            if verdict == "fair":
                found.append(certain | ~counts[:, one])
            else:
                found.append(certain & counts[:, other])
    decided = np.all(found, axis=0) if verdict == "fair" else np.any(found, axis=0)
    return np.asarray(decided & ~drawn.silent)


def _edges(design: AuditDesign) -> list[int]:
    """Return the edges around the least share that counts, or all of a few."""
    last = design.bins - 1
    middle = design.bins - design.top_bins
    first = max(min(middle - _MOST_EDGES // 2, last - _MOST_EDGES + 1), 1)
    return list(range(first, min(first + _MOST_EDGES, last + 1)))


def _may_count(
    design: AuditDesign, drawn: Releases, above: Floats, edge: int, level: float
) -> NDArray[np.bool_]:
    own = level if design.exact else level * (1 - _SIZES)
    law = sum_of_draws(design.distribution, design.bins - edge)
    limits = share_limits(above, drawn.low, law, own) + drawn.missing
    return np.asarray(limits >= design.least_share)


def _is_below(
    design: AuditDesign,
    drawn: Releases,
    above: Floats,
    edge: int,
    pair: tuple[int, int],
    most_ratio: float,
    level: float,
) -> NDArray[np.bool_]:
    """Return where p_first / p_second is certainly below `most_ratio`, at the least favourable
    shares.
    """
    one, other = pair
    law = sum_of_draws(design.distribution, design.bins - edge)
    few, many = drawn.low[:, one], drawn.high[:, other]
    part = level * _SHARES / 4
    level *= 1 - _SHARES
    fewest = 1 - share_limits(many - above[:, other], many, law, part)
    # All people who are in no bin could be above the edge.
    limit = np.maximum(most_ratio - drawn.missing[:, one] / np.maximum(fewest, 1e-9), 1e-9)
    ratio = limit * drawn.stated[:, one] / np.maximum(drawn.stated[:, other], 1.0)
    observed = above[:, one] - ratio * above[:, other]
    most = share_limits(above[:, one], few, law, part)
    most_other = share_limits(above[:, other], drawn.low[:, other], law, part)
    least = np.maximum(
        1 - share_limits(drawn.high[:, one] - above[:, one], drawn.high[:, one], law, part),
        limit * fewest,
    )
    # The exact test divides the plausible shares into cells, and rounds each by its width.
    rounding = few * np.maximum(most - least, 0.0) / _CELLS
    worst = np.full(len(observed), -np.inf)
    for look in np.linspace(0, 1, _LOOKS):
        p = np.clip(least + look * (most - least), 0.0, 1.0)
        q = np.clip(p / limit, 0.0, most_other)
        spread = np.sqrt(
            few * p * (1 - p) + ratio**2 * many * q * (1 - q) + (1 + ratio**2) * law.variance
        )
        worst = np.maximum(worst, (observed + rounding - (few * p - ratio * many * q)) / spread)
    # Without a plausible share, the ratio is ruled out.
    return np.asarray((worst <= special.ndtri(level)) | (least > most))
