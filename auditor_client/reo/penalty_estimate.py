"""Penalty of ranking-based equal opportunity, from positives in default and random traffic.

    Δ_REO = std(U) / mean(U): 0 if relevant content of every group is shown equally often

The interval also holds at zero, where the estimate is biased upwards and the delta method has no
gradient: see `log_ratio_bounds` and `norm_bounds`. If a count is too small for a normal
distribution, limits come from each count alone (`confidence_box`). The estimate may then be
undefined while a one-sided bound holds.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, eq. 4 and Algorithm 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from auditor_client.errors import InputError
from auditor_client.reo.confidence_box import penalty_over, relative_over, utilities_box
from auditor_client.reo.counts import (
    AnyDistribution,
    PositiveCounts,
    Positives,
    align_groups,
    check_counts,
    refuse_without_random,
)
from auditor_client.reo.log_ratio_bounds import ratio_limits
from auditor_client.reo.norm_bounds import Axes, length_limits
from auditor_client.reo.utilities import Covariance, Utilities, utilities
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats

Verdict = Literal["fair", "unfair", "inconclusive"]

# A count of at least this number of its standard deviations is treated as normal.
ENOUGH = 4.0


@dataclass(frozen=True, slots=True)
class Bounded:
    """A number with limits that hold with probability 1 - delta."""

    value: float
    se: float
    low: float
    high: float


@dataclass(frozen=True)
class Penalty:
    """Penalty with limits, and its components by name of group.

    `u` are utilities up to a common factor, `relative` the paper's ΔU_k, and `delta_u` the same
    with limits that hold for each alone. If some count is too small for a normal distribution,
    `defined` is false: limits hold and `se` is NaN; `penalty` is NaN if a denominator is not
    positive.
    """

    penalty: float
    se: float
    low: float
    high: float
    delta: float
    u: dict[str, float]
    relative: dict[str, float]
    delta_u: dict[str, Bounded]
    small: tuple[str, ...] = ()
    utilities: Utilities | None = field(default=None, repr=False, compare=False)

    @property
    def defined(self) -> bool:
        return not self.small

    @property
    def largest(self) -> float:
        """Return the largest possible penalty for this number of groups."""
        return math.sqrt(len(self.u) - 1)

    def verdict(self, tolerated: float) -> Verdict:
        """Return `fair` if the penalty is certainly at most the tolerated one, `unfair` if
        certainly above.
        """
        if not tolerated >= 0:
            raise InputError(f"The tolerated penalty must not be negative, but it is {tolerated}.")
        if self.high <= tolerated:
            return "fair"
        return "unfair" if self.low > tolerated else "inconclusive"

    def explain(self) -> str:
        """Return the penalty in words."""
        sure = f"with confidence {1 - self.delta:.0%}"
        if self.defined:
            return (
                f"The penalty is {self.penalty:.4f}, between {self.low:.4f} and {self.high:.4f}"
                f" {sure}."
            )
        few = f"There are too few positives to estimate the penalty: {', '.join(self.small)}."
        if self.high < self.largest:
            return f"{few} It lies between {self.low:.4f} and {self.high:.4f} {sure}."
        if self.low > 0:
            return f"{few} It is undefined, and at least {self.low:.4f} {sure}."
        return f"{few} It is undefined, and these counts exclude no value."


def penalty(
    recommended: Positives,
    random: Positives | None,
    n_recommended: float | None = None,
    n_random: float | None = None,
    delta: float = 0.05,
    covariance: Covariance = "exact",
    *,
    noise_recommended: AnyDistribution | None = None,
    noise_random: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> Penalty:
    """Return the penalty from positives by group in default (`recommended`) and `random` traffic.

    The numbers of rows only scale `u`, and may be omitted except with `covariance="printed"`, which
    is Algorithm 1 exactly as printed. Give noise by its distribution
    (`auditor_client.stats.noise_distributions`) or its variance. `rows_per_viewer` is the largest
    number of rows of one viewer in both traffics together.
    """
    refuse_without_random(random)
    shown = check_counts(recommended, n_recommended, noise_recommended, "default traffic")
    probed = check_counts(random or {}, n_random, noise_random, "random traffic")
    check_delta(delta)
    return penalty_of(shown, align_groups(shown, probed), delta, covariance, rows_per_viewer)


def penalty_of(
    recommended: PositiveCounts,
    random: PositiveCounts,
    delta: float,
    covariance: Covariance = "exact",
    rows_per_viewer: int = 1,
    found: Utilities | None = None,
    sampling: Floats | None = None,
) -> Penalty:
    """Return the penalty from checked counts, or from `found` utilities with known errors.

    `sampling` is the measured variance of each count, default traffic first. Without it, each
    count's variance is that for viewers with `rows_per_viewer` rows each.
    """
    traffics = [(recommended, "default"), (random, "random")]
    small = too_small(traffics, rows_per_viewer, sampling)
    if covariance == "exact" and small:
        return bound_penalty(recommended, random, delta, rows_per_viewer, small)
    if (random.positives <= 0).any() or recommended.positives.sum() <= 0:
        raise InputError(
            "Algorithm 1 divides by zero here. Use the exact covariance.", case="division-by-zero"
        )
    made = found or utilities(recommended, random, covariance, rows_per_viewer)
    return from_utilities(made, delta, printed=covariance == "printed")


def too_small(
    traffics: Sequence[tuple[PositiveCounts, str]],
    rows_per_viewer: int = 1,
    sampling: Floats | None = None,
) -> tuple[str, ...]:
    """Return, in words, the counts that are too small for a normal distribution."""
    words = []
    for index, (counts, traffic) in enumerate(traffics):
        size = len(counts.groups)
        if sampling is None:
            variance = rows_per_viewer * np.maximum(counts.positives, 0.0)
        else:
            variance = sampling[index * size : (index + 1) * size]
        errors = np.sqrt(np.maximum(variance + counts.noise.variance, 1.0))
        words += [
            f"{name} in {traffic} traffic has {value:g} ± {error:.3g}"
            for name, value, error in zip(counts.groups, counts.positives, errors, strict=True)
            if value < ENOUGH * error
        ]
    return tuple(words)


def from_utilities(made: Utilities, delta: float, *, printed: bool = False) -> Penalty:
    """Return limits from utilities with normal errors."""
    covariance, heavy = made.of_relative(made.covariance), made.of_relative(made.heavy)
    value, se = made.penalty, _standard_error(made, covariance)
    if printed:
        z = quantile(delta / 2)
        # Δ_REO ± z(δ/2) SE   [DJHL25, Algorithm 1]
        low, high = value - z * se, value + z * se
    elif len(made.u) == 2:
        low, high = ratio_limits(made, delta)
    else:
        low, high = length_limits(Axes.of(made.relative, covariance, heavy), delta)
    return Penalty(
        value, se, low, high, delta,
        u=dict(zip(made.groups, made.u.tolist(), strict=True)),
        relative=dict(zip(made.groups, made.relative.tolist(), strict=True)),
        delta_u=_each(made, covariance, heavy, delta),
        utilities=made,
    )  # fmt: skip


def _standard_error(made: Utilities, covariance: Floats) -> float:
    """Return the standard error by the delta method; at zero, where it fails, the root mean square
    error.
    """
    if made.penalty == 0:
        return math.sqrt(max(float(np.trace(covariance)), 0.0) / len(made.u))
    # Var(Δ_REO) = Hᵀ Σ H   [DJHL25, Algorithm 1]
    return math.sqrt(max(float(made.direction() @ covariance @ made.direction()), 0.0))


def _each(made: Utilities, covariance: Floats, heavy: Floats, delta: float) -> dict[str, Bounded]:
    found = {}
    for k, name in enumerate(made.groups):
        value, variance = float(made.relative[k]), max(float(covariance[k, k]), 0.0)
        se = math.sqrt(variance)
        z = quantile(delta / 2, round(float(heavy[k, k]) / variance, 4) if variance else 0.0)
        found[name] = Bounded(value, se, value - z * se, value + z * se)
    return found


def bound_penalty(
    recommended: PositiveCounts,
    random: PositiveCounts,
    delta: float,
    rows_per_viewer: int,
    small: tuple[str, ...],
) -> Penalty:
    """Return limits for counts of which some are too `small` for a normal distribution."""
    box = utilities_box(recommended, random, rows_per_viewer, delta)
    low, high = penalty_over(box)
    u, relative = _plain(recommended, random)
    known = dict(zip(recommended.groups, relative.tolist(), strict=True))
    ends = zip(*relative_over(box), strict=True)
    each = {
        name: Bounded(known[name], math.nan, float(left), float(right))
        for name, (left, right) in zip(recommended.groups, ends, strict=True)
    }
    return Penalty(
        float(np.sqrt(np.mean(relative**2))), math.nan, low, high, delta,
        u=dict(zip(recommended.groups, u.tolist(), strict=True)),
        relative=known,
        delta_u=each,
        small=small,
    )  # fmt: skip


def _plain(recommended: PositiveCounts, random: PositiveCounts) -> tuple[Floats, Floats]:
    """Return utilities and relative utilities, with NaN where they are undefined."""
    scale = (random.rows or 1.0) / (recommended.rows or 1.0)
    there = random.positives > 0
    above = np.maximum(recommended.positives, 0.0)
    u = np.where(there, scale * above / np.where(there, random.positives, 1.0), np.nan)
    mean = u.mean()
    return u, u / mean - 1 if mean > 0 else np.full(len(u), np.nan)


def check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, not {delta}.", case="delta-range")
