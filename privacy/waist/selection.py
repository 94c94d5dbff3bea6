"""Selection of the table with the largest value: report noisy max, by OpenDP.

Unit: one person; `bounds.added.linf` and `bounds.changed.linf` bound their change of any one value,
and values may change in both directions.
Guarantee: at scale b the choice is (2 · added / b)-DP when a person is added or removed, and
(2 · changed / b)-DP when one person's data change. Only the index is released.

[MS20] McKenna, Sheldon, Permute-and-Flip, NeurIPS 2020 (the selection OpenDP makes).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from opendp.measurements import make_noisy_max
from opendp.measures import max_divergence
from opendp.metrics import linf_distance

from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.price import ExactPrice
from privacy.waist.calibration import find_scale, integer_domain, make_calibrated, round_up


@dataclass(frozen=True)
class NoisyMax:
    """Selection from one row of values, calibrated to an epsilon under add/remove."""

    bounds: Bounds
    epsilon: Fraction
    name: ClassVar[str] = "report-noisy-max"

    @property
    def parameter(self) -> Fraction:
        return self.epsilon

    @property
    def price(self) -> ExactPrice:
        # epsilon = 2Δ / scale   [MS20], for values that are not monotone
        per_unit = self.epsilon / self.bounds.added.linf
        return ExactPrice.epsilon(
            add_remove=self.epsilon, change_one=per_unit * self.bounds.changed.linf
        )

    @property
    def scale(self) -> float:
        return find_scale(self)

    @property
    def standard_deviation(self) -> float:
        """Return the standard deviation of the exponential noise on one value."""
        return self.scale

    def error(self, probability: float) -> int:
        """Return a t such that the chosen value is within t of the largest, except with this
        probability.
        """
        # P(largest − chosen ≥ scale · ln(m / p)) ≤ p for m values, as for the exponential
        # mechanism, than which permute-and-flip is never worse.   [MS20]
        return math.ceil(self.scale * math.log(self.bounds.shape[0] / probability))

    def release(self, table: Table) -> int:
        """Return the chosen index."""
        return int(make_calibrated(self)(table.cells))

    @property
    def least(self) -> float:
        return round_up(2 * Fraction(self.bounds.added.linf) / self.epsilon)

    def make(self, scale: float) -> Any:
        space = integer_domain(), linf_distance(T="i64")
        return make_noisy_max(*space, max_divergence(), scale=scale)

    def within_price(self, mechanism: Any) -> bool:
        added = Fraction(mechanism.map(self.bounds.added.linf))
        changed = Fraction(mechanism.map(self.bounds.changed.linf))
        return self.price.covers(ExactPrice.epsilon(add_remove=added, change_one=changed))
