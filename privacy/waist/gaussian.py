"""Discrete Gaussian noise on the cells of a table, by OpenDP.

Unit: one person; `bounds.added.l2_squared` and `bounds.changed.l2_squared` bound their change
of the cells in squared L2.
Guarantee: with noise of scale σ on every cell the release is (added² / 2σ²)-zCDP when a person is
added or removed, and (changed² / 2σ²)-zCDP when one person's data change. It has no pure epsilon.
Noisy cells are clipped to ±(2⁵³ − 1), which is post-processing (`Table.plus`, `overflow`).

[CKS20] Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from opendp.measurements import make_gaussian
from opendp.metrics import l2_distance

from privacy.tables.bounded_table import Bounds, Cells, Noisable, Noisy
from privacy.tables.price import ExactPrice
from privacy.waist.calibration import find_scale, integer_domain, make_calibrated, round_up_root


@dataclass(frozen=True)
class DiscreteGaussian:
    """Mechanism for one table, calibrated to a rho under add/remove."""

    bounds: Bounds
    rho: Fraction
    name: ClassVar[str] = "discrete-gaussian"

    @property
    def parameter(self) -> Fraction:
        return self.rho

    @property
    def price(self) -> ExactPrice:
        # rho = Δ² / 2σ², with σ² = added² / 2 rho   [CKS20]
        per_unit = self.rho / self.bounds.added.l2_squared
        return ExactPrice.rho(
            add_remove=self.rho, change_one=per_unit * self.bounds.changed.l2_squared
        )

    @property
    def scale(self) -> float:
        return find_scale(self)

    @property
    def standard_deviation(self) -> float:
        """Return the standard deviation of the noise on one cell: at most σ.   [CKS20]"""
        return self.scale

    def error(self, probability: float) -> int:
        """Return a t with P(|noise| > t) ≤ probability, for one cell."""
        # The discrete Gaussian is σ²-sub-Gaussian: P(|X| ≥ m) ≤ 2 exp(−m² / 2σ²).   [CKS20]
        return math.ceil(self.scale * math.sqrt(2 * math.log(2 / probability)))

    def release(self, table: Noisable[Noisy]) -> Noisy:
        return table.plus(self.noise())

    def noise(self) -> Cells:
        """Return fresh noise for every cell, from OpenDP's generator, which nobody can seed
        (R6).
        """
        zeros = np.zeros(math.prod(self.bounds.shape), np.int64)
        return np.asarray(make_calibrated(self)(zeros), np.int64).reshape(self.bounds.shape)

    @property
    def least(self) -> float:
        return round_up_root(Fraction(self.bounds.added.l2_squared) / (2 * self.rho))

    def make(self, scale: float) -> Any:
        return make_gaussian(integer_domain(), l2_distance(T="f64"), scale=scale)

    def within_price(self, mechanism: Any) -> bool:
        added = Fraction(mechanism.map(round_up_root(Fraction(self.bounds.added.l2_squared))))
        changed = Fraction(mechanism.map(round_up_root(Fraction(self.bounds.changed.l2_squared))))
        return self.price.covers(ExactPrice.rho(add_remove=added, change_one=changed))
