"""Positives per group of creators in one traffic, from the platform or a file.

A row is positive if any requested signal is. Counts may have noise of a known distribution.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Floats, Gaussian, Laplace, Noise, NoNoise

Positives = Mapping[str, float]
AnyDistribution = Noise | float

WITHOUT_RANDOM = (
    "Positives of default traffic alone have no information about equal opportunity, "
    "because content that was never shown has no label. Of two platforms with the same "
    "log, one may be perfectly fair and the other unfair by 1/3 "
    "(docs/explanation/reo.md). Give the positives of random traffic too, or use metrics "
    "that need no labels of unseen items: `reo.parity`, `reo.precision`."
)


@dataclass(frozen=True, eq=False)
class PositiveCounts:
    """Positives by group, in the order of `groups`; `rows` is the traffic's number of rows, if
    known.
    """

    groups: tuple[str, ...]
    positives: Floats
    rows: float | None = None
    noise: Noise = field(default_factory=NoNoise)

    @property
    def variance(self) -> Floats:
        """Return each count's variance: that of a rare event plus that of the noise."""
        return np.maximum(self.positives, 0.0) + self.noise.variance

    @property
    def heavy(self) -> float:
        """The variance of the noise with heavier tails than a normal distribution."""
        return 0.0 if isinstance(self.noise, Gaussian | NoNoise) else self.noise.variance


def check_counts(
    positives: Positives, rows: float | None, noise: AnyDistribution | None, traffic: str
) -> PositiveCounts:
    """Return checked counts from given values."""
    groups = tuple(str(name) for name in positives)
    values = np.asarray([float(value) for value in positives.values()])
    law = as_distribution(noise)
    if len(groups) < 2:
        raise InputError(
            f"A comparison needs at least two groups; {traffic} has {len(groups)}.",
            case="few-groups",
        )
    if not np.isfinite(values).all():
        raise InputError(f"Every count of {traffic} must be a finite number.", case="not-finite")
    if isinstance(law, NoNoise):
        _check_plain(values, rows, traffic)
    if rows is not None and not rows > 0:
        raise InputError(f"The number of rows in {traffic} must be positive, not {rows}.")
    return PositiveCounts(groups, values, rows, law)


def _check_plain(values: Floats, rows: float | None, traffic: str) -> None:
    if (values < 0).any():
        raise InputError(
            f"A count of {traffic} is negative. State the noise on it with noise=.",
            case="negative-count",
        )
    if rows is not None and values.sum() > rows:
        raise InputError(
            f"There are {values.sum():g} positives in {traffic}, but only {rows:g} rows.",
            case="more-positives-than-rows",
        )


def align_groups(reference: PositiveCounts, other: PositiveCounts) -> PositiveCounts:
    """Return the other counts in the order of the first; both must have the same groups."""
    if set(reference.groups) != set(other.groups):
        alone = ", ".join(sorted(set(reference.groups) ^ set(other.groups)))
        raise InputError(
            f"Both traffics need the same groups; only one has {alone}.", case="other-groups"
        )
    order = [other.groups.index(name) for name in reference.groups]
    return PositiveCounts(reference.groups, other.positives[order], other.rows, other.noise)


def as_distribution(noise: AnyDistribution | None) -> Noise:
    """Return a given distribution; treat a number as the variance of Laplace noise.

    Of the distributions that platforms use, Laplace noise has the heaviest tail for its
    variance.
    """
    if noise is None or isinstance(noise, Noise):
        return noise or NoNoise()
    if not (math.isfinite(noise) and noise >= 0):
        raise InputError(
            f"The variance of noise must not be negative, but it is {noise}.",
            case="negative-variance",
        )
    # Var = 1 / (2 sinh²(rate/2)), solved for the rate
    return Laplace(2 * math.asinh(1 / math.sqrt(2 * noise))) if noise else NoNoise()


def refuse_without_random(random: object) -> None:
    if random is None:
        raise InputError(WITHOUT_RANDOM, case="default-traffic-alone")
