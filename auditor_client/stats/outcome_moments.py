"""Sums over opportunities by group and bin of the score: the input of an outcome test.

Scores and outcomes are scaled by public numbers: u is the score, from -1 at the low to 1 at the
high end of its bin, and v the outcome, from -1 at the low to 1 at the high end of its range.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from auditor_client.stats.noise_distributions import Noise, NoNoise

Floats = NDArray[np.float64]
# Sums of 1, v, u, u², u·v and v², in this order.
NAMES: Final = (
    "count",
    "outcome",
    "score",
    "score_squared",
    "score_outcome",
    "outcome_squared",
)


@dataclass(frozen=True, eq=False)
class OutcomeMoments:
    """Sums of `NAMES` by group and bin, and the noise on them.

    `sums[g, b, k]` has noise Z / `units[k]`, where Z has the distribution `noise`, all independent.
    Rows form clusters, one per person, of at most `rows_per_person`.
    """

    groups: tuple[str, ...]
    edges: tuple[float, ...]
    outcome_range: tuple[float, float]
    sums: Floats
    rows_per_person: int = 1
    noise: Noise = field(default_factory=NoNoise)
    units: tuple[float, ...] = (1.0,) * len(NAMES)

    def __post_init__(self) -> None:
        shape = (len(self.groups), len(self.edges) - 1, len(NAMES))
        if self.sums.shape != shape:
            raise ValueError(f"sums of the shape {shape} are needed, not {self.sums.shape}")

    @property
    def noise_variance(self) -> Floats:
        """Return the variance of the noise on each sum, in the order of `NAMES`."""
        return np.asarray(self.noise.variance / np.square(np.asarray(self.units, np.float64)))

    @property
    def outcome_scale(self) -> float:
        """Return the difference in outcomes for a difference of 1 in v."""
        low, high = self.outcome_range
        return (high - low) / 2

    def outcome(self, v: Floats | float) -> Floats | float:
        """Return the outcome at v."""
        low, high = self.outcome_range
        return (low + high) / 2 + self.outcome_scale * v

    def limits(self, bin_number: int) -> tuple[float, float]:
        """Return the ends of a bin."""
        return self.edges[bin_number], self.edges[bin_number + 1]
