"""Discrete Laplace noise on the cells of a table, by OpenDP.

Unit: one person; `bounds.added.l1` and `bounds.changed.l1` bound their change of the cells in L1.
Guarantee: with noise of scale b on every cell the release is (added / b)-DP when a person is added
or removed, and (changed / b)-DP when one person's data change. The scale is added / epsilon.
Noisy cells are clipped to ±(2⁵³ − 1), which is post-processing (`Table.plus`, `overflow`).

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3.3 (Laplace noise of scale 1/ε on each bin).
[CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020
        (exact discrete Laplace sampling).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from opendp.measurements import make_laplace
from opendp.metrics import l1_distance

from privacy.tables.bounded_table import Bounds, Cells, Noisable, Noisy
from privacy.tables.price import ExactPrice
from privacy.waist.calibration import find_scale, integer_domain, make_calibrated, round_up


@dataclass(frozen=True)
class DiscreteLaplace:
    """Mechanism for one table, calibrated to an epsilon under add/remove."""

    bounds: Bounds
    epsilon: Fraction
    name: ClassVar[str] = "discrete-laplace"

    @property
    def parameter(self) -> Fraction:
        return self.epsilon

    @property
    def price(self) -> ExactPrice:
        # epsilon = Δ / scale, with scale = added / epsilon   [IKH23, §4.3.3, with Δ = added]
        per_unit = self.epsilon / self.bounds.added.l1
        return ExactPrice.epsilon(
            add_remove=self.epsilon, change_one=per_unit * self.bounds.changed.l1
        )

    @property
    def scale(self) -> float:
        return find_scale(self)

    @property
    def standard_deviation(self) -> float:
        """Return the standard deviation of the noise on one cell.

        Its variance is 2q / (1 − q)² for P(k) ∝ q^|k|, q = exp(−1/scale).
        """
        return math.sqrt(2 * self._q) / -math.expm1(-1 / self.scale)

    def error(self, probability: float) -> int:
        """Return the smallest t with P(|noise| > t) ≤ probability, for one cell."""
        # P(|noise| > t) = 2 q^(t+1) / (1 + q), and log q = −1/scale
        t = -self.scale * math.log(probability * (1 + self._q) / 2) - 1
        return max(0, math.ceil(t))

    def release(self, table: Noisable[Noisy]) -> Noisy:
        return table.plus(self.noise())

    def noise(self) -> Cells:
        """Return fresh noise for every cell, from OpenDP's generator, which nobody can seed
        (R6).
        """
        zeros = np.zeros(math.prod(self.bounds.shape), np.int64)
        return np.asarray(make_calibrated(self)(zeros), np.int64).reshape(self.bounds.shape)

    @property
    def _q(self) -> float:
        return math.exp(-1 / self.scale)

    @property
    def least(self) -> float:
        return round_up(Fraction(self.bounds.added.l1) / self.epsilon)

    def make(self, scale: float) -> Any:
        return make_laplace(integer_domain(), l1_distance(T="i64"), scale=scale)

    def within_price(self, mechanism: Any) -> bool:
        added = Fraction(mechanism.map(self.bounds.added.l1))
        changed = Fraction(mechanism.map(self.bounds.changed.l1))
        return self.price.covers(ExactPrice.epsilon(add_remove=added, change_one=changed))
