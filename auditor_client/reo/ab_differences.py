"""A/B tests: the change of the penalty by a treatment, measured by one random traffic.

    D = Δ_treatment - Δ_control, and D_k = ΔU_k of the treatment minus that of the control

Both penalties divide by the same random traffic, whose errors they share. Algorithm 2 treats them
as independent, which gives too wide limits if both have the same direction. Here the covariance is
used. Near zero a penalty's direction is unknown, and the delta method fails. There, the limits
cover all possible signs, or those of each penalty (docs/explanation/reo.md, "Differences").

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Algorithm 2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditor_client.reo.counts import (
    AnyDistribution,
    PositiveCounts,
    Positives,
    align_groups,
    check_counts,
    refuse_without_random,
)
from auditor_client.reo.penalty_estimate import Bounded, Penalty, check_delta, penalty_of
from auditor_client.reo.utilities import (
    Covariance,
    Utilities,
    heavy_variances,
    slopes,
    utilities_from_cells,
    variances,
)
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats

# At this distance from zero, in standard errors, a penalty's direction is known. With more groups
# its surface is curved, which biases the difference by (K - 2) / (2 · distance) standard errors: at
# most .1 from here on.
_CLEAR, _FLAT = 4.0, 5.0
# Part of delta for each sign.
_SIGN = 0.02

Change = Literal["fairer", "less fair", "inconclusive"]


@dataclass(frozen=True)
class PenaltyDifference:
    """Change of the penalty and of each ΔU_k, with limits that hold for each alone."""

    difference: float
    se: float
    low: float
    high: float
    delta: float
    treatment: Penalty
    control: Penalty
    delta_u: dict[str, Bounded]

    @property
    def verdict(self) -> Change:
        if self.high < 0:
            return "fairer"
        return "less fair" if self.low > 0 else "inconclusive"

    def explain(self) -> str:
        """Return the change in words."""
        words = {
            "fairer": "The treatment is fairer",
            "less fair": "The treatment is less fair",
            "inconclusive": "The treatment may be fairer or less fair",
        }[self.verdict]
        return (
            f"{words}: the penalty changes by between {self.low:+.4f} and {self.high:+.4f}"
            f" with confidence {1 - self.delta:.0%}."
        )


def difference(
    treatment: Positives,
    control: Positives,
    random: Positives | None,
    n_treatment: float | None = None,
    n_control: float | None = None,
    n_random: float | None = None,
    delta: float = 0.05,
    covariance: Covariance = "exact",
    *,
    noise_treatment: AnyDistribution | None = None,
    noise_control: AnyDistribution | None = None,
    noise_random: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> PenaltyDifference:
    """Return the change from control to treatment, from positives by group in three traffics.

    `covariance="printed"` is Algorithm 2 exactly as printed. Other options are as in `penalty`.
    """
    refuse_without_random(random)
    check_delta(delta)
    one = check_counts(treatment, n_treatment, noise_treatment, "the treatment")
    other = check_counts(control, n_control, noise_control, "the control")
    probed = check_counts(random or {}, n_random, noise_random, "random traffic")
    return difference_of(
        one, align_groups(one, other), align_groups(one, probed), delta, covariance, rows_per_viewer
    )


def difference_of(
    treatment: PositiveCounts,
    control: PositiveCounts,
    random: PositiveCounts,
    delta: float,
    covariance: Covariance = "exact",
    rows_per_viewer: int = 1,
    sampling: Floats | None = None,
) -> PenaltyDifference:
    """Return the same from checked counts; `sampling` is a known covariance of all 3K of them."""
    traffics = (treatment, control, random)

    def both(level: float) -> list[Penalty]:
        return [
            penalty_of(
                one,
                random,
                level,
                covariance,
                rows_per_viewer,
                _known(traffics, k, sampling),
                None if sampling is None else np.diag(sampling)[_cells(k, len(random.groups))],
            )
            for k, one in enumerate(traffics[:2])
        ]

    found = both(delta)
    if not all(one.defined for one in found):
        whole, each = _apart(both(delta / 2)), _each_apart(both(delta / 2))
        return _made(whole, delta, found, each)
    spread = np.diag(variances(traffics, covariance, rows_per_viewer))
    shared = covariance == "exact"
    joint = _joint(traffics, spread if sampling is None else sampling, shared=shared)
    heavy = _joint(traffics, np.diag(heavy_variances(traffics)), shared=shared)
    if covariance == "printed" or (len(random.groups) > 2 and all(map(_clear, found))):
        whole = _along(found, joint, heavy, delta)
    elif len(random.groups) == 2:
        whole = _signed(found, joint, heavy, delta)
    else:
        whole = _apart(both(delta / 2))
    each = _each(found, joint, heavy, delta)
    return _made(whole, delta, found, each)


def _made(
    whole: Bounded, delta: float, found: Sequence[Penalty], each: dict[str, Bounded]
) -> PenaltyDifference:
    treatment, control = found
    return PenaltyDifference(
        whole.value, whole.se, whole.low, whole.high, delta, treatment, control, each
    )


def _known(
    traffics: Sequence[PositiveCounts], index: int, sampling: Floats | None
) -> Utilities | None:
    """Return utilities of one strategy, given the covariance of all counts."""
    random = traffics[2]
    if sampling is None or (random.positives <= 0).any():
        return None
    mine = _cells(index, len(random.groups))
    return utilities_from_cells(traffics[index], random, sampling[np.ix_(mine, mine)])


def _cells(index: int, size: int) -> NDArray[np.intp]:
    """Return the counts of one strategy and of random traffic, among those of all three
    traffics.
    """
    return np.asarray(np.r_[index * size : (index + 1) * size, 2 * size : 3 * size], np.intp)


def _joint(traffics: Sequence[PositiveCounts], cells: Floats, *, shared: bool) -> Floats:
    """Return the covariance of both vectors ΔU from that of the counts of treatment, control,
    random.
    """
    treatment, control, random = traffics
    size = len(random.groups)
    rows = []
    for index, counts in enumerate((treatment, control)):
        u, by_shown, by_random = slopes(counts, random)
        parts = [np.zeros((size, size)), np.zeros((size, size)), by_random]
        parts[index] = by_shown
        made = Utilities(counts.groups, u, cells, cells)
        rows.append(made.jacobian @ np.hstack(parts))
    joint = np.vstack(rows) @ cells @ np.vstack(rows).T
    if not shared:
        # SE² = SE_T² + SE_C²   [DJHL25, Algorithm 2]
        joint[:size, size:] = joint[size:, :size] = 0.0
    return np.asarray(joint)


def _clear(found: Penalty) -> bool:
    """Tell whether the penalty is far enough from zero for a known direction."""
    far = max(_CLEAR, _FLAT * (len(found.u) - 2))
    return found.penalty > far * found.se


def _between(value: float, slope: Floats, joint: Floats, heavy: Floats, delta: float) -> Bounded:
    variance = max(float(slope @ joint @ slope), 0.0)
    se = math.sqrt(variance)
    share = round(float(slope @ heavy @ slope) / variance, 4) if variance else 0.0
    z = quantile(delta / 2, share)
    return Bounded(value, se, value - z * se, value + z * se)


def _each(
    found: Sequence[Penalty], joint: Floats, heavy: Floats, delta: float
) -> dict[str, Bounded]:
    """Return D_k, which is regular at zero."""
    treatment, control = found
    size = len(treatment.u)
    signs = np.hstack([np.eye(size), -np.eye(size)])
    return {
        name: _between(
            treatment.relative[name] - control.relative[name], signs[k], joint, heavy, delta
        )
        for k, name in enumerate(treatment.u)
    }


def _along(found: Sequence[Penalty], joint: Floats, heavy: Floats, delta: float) -> Bounded:
    """Return D along the directions of both penalties."""
    made = [one.utilities.direction() for one in found if one.utilities]
    slope = np.concatenate([made[0], -made[1]])
    return _between(found[0].penalty - found[1].penalty, slope, joint, heavy, delta)


def _signed(found: Sequence[Penalty], joint: Floats, heavy: Floats, delta: float) -> Bounded:
    """Return D of two groups over all plausible signs.

    The true sign of either is excluded with a probability of at most _SIGN·delta; the limits of the
    true signs use the rest of delta.
    """
    values = [next(iter(one.relative.values())) for one in found]
    signs = [
        _signs(value, joint[k, k], heavy[k, k], _SIGN * delta)
        for value, k in zip(values, (0, 2), strict=True)
    ]
    limits = [
        _between(
            one * values[0] - other * values[1], np.array([one, 0.0, -other, 0.0]), joint, heavy,
            delta * (1 - 2 * _SIGN),
        )
        for one in signs[0]
        for other in signs[1]
    ]  # fmt: skip
    low, high = min(one.low for one in limits), max(one.high for one in limits)
    # The first pair of signs is the measured one.
    return Bounded(limits[0].value, limits[0].se, low, high)


def _signs(value: float, variance: float, heavy: float, level: float) -> list[float]:
    """Return the measured sign, and the other sign if it is plausible."""
    own = 1.0 if value >= 0 else -1.0
    if variance <= 0:
        return [own]
    far = quantile(level, round(heavy / variance, 4)) * math.sqrt(variance)
    return [own] if abs(value) > far else [own, -own]


def _apart(halves: Sequence[Penalty]) -> Bounded:
    """Return D with limits from those of both penalties, which hold at once."""
    one, other = halves
    se = math.hypot(one.se, other.se)
    return Bounded(one.penalty - other.penalty, se, one.low - other.high, one.high - other.low)


def _each_apart(halves: Sequence[Penalty]) -> dict[str, Bounded]:
    one, other = halves
    return {
        name: Bounded(
            one.relative[name] - other.relative[name],
            math.nan,
            one.delta_u[name].low - other.delta_u[name].high,
            one.delta_u[name].high - other.delta_u[name].low,
        )
        for name in one.u
    }
