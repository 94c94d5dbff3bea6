"""Bounds of the length of a vector that is estimated with a normal error."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from auditor_client.stats.critical_values import outward_quantile, quantile
from auditor_client.stats.noise_distributions import Floats

_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Axes:
    """Estimate along the axes of its error: its position and its variance."""

    where: Floats
    variances: Floats
    heavy: float

    @classmethod
    def of(cls, relative: Floats, covariance: Floats, heavy: Floats) -> "Axes":
        """Return the axes of relative utilities.

        They add up to zero, so there is one dimension fewer.
        """
        plane = np.linalg.svd(np.ones((1, len(relative))))[2][1:]
        inside = plane @ covariance @ plane.T
        variances, axes = np.linalg.eigh((inside + inside.T) / 2)
        variances = np.maximum(variances, max(variances[-1], _TINY) * 1e-12)
        part = axes.T @ plane @ heavy @ plane.T @ axes / np.sqrt(np.outer(variances, variances))
        share = float(np.linalg.eigvalsh((part + part.T) / 2)[-1])
        return cls(axes.T @ plane @ relative, variances, min(max(share, 0.0), 1.0))

    def longest(self, delta: float) -> float:
        """Return a length such that no longer vector is within z of the estimate."""
        z = quantile(delta / 2, self.heavy)
        y, v = self.where, self.variances
        # x_i = y_i / (1 - μ v_i) for the multiplier μ of |x|² under Σ (x_i - y_i)²/v_i = z²
        most = 1 / v[-1]

        def short(mu: float) -> float:
            return float(np.sum((mu * y / (1 - mu * v)) ** 2 * v)) - z**2

        end = most * (1 - 1e-9)
        # If the estimate is zero along the widest axis, the remainder lies there.
        if short(end) < 0:
            x = y / np.maximum(1 - end * v, 1e-9)
            x[-1] = 0.0
            rest = z**2 - float(np.sum((x[:-1] - y[:-1]) ** 2 / v[:-1]))
            return math.hypot(float(np.linalg.norm(x)), math.sqrt(max(rest, 0.0) * v[-1]))
        mu = float(optimize.brentq(short, 0.0, end)) if short(0.0) < 0 else 0.0
        return float(np.linalg.norm(y / (1 - mu * v)))

    def shortest(self, delta: float) -> float:
        """Return a length such that every shorter vector is further off than its sphere's critical
        value.
        """
        groups = len(self.where) + 1
        stretch = quantile(delta / 2, self.heavy) / quantile(delta / 2)
        # The whitened sphere of radius ρ has axes ρ/√v, which determine its smallest radius of
        # curvature.
        curvature = math.sqrt(self.variances[0]) / self.variances[-1]

        def kept(mu: float) -> bool:
            length, distance = self._nearest(mu)
            return distance <= stretch * outward_quantile(
                groups, _rounded(length * curvature), delta
            )

        if math.sqrt(float(np.sum(self.where**2 / self.variances))) <= stretch * outward_quantile(
            groups, 0.0, delta
        ):
            return 0.0
        steps = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 60) / self.variances[-1]])
        last = max(i for i, mu in enumerate(steps) if kept(mu))
        low, high = steps[last], steps[min(last + 1, len(steps) - 1)]
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if kept(middle) else (low, middle)
        return self._nearest(high)[0]

    def _nearest(self, mu: float) -> tuple[float, float]:
        """Return the length of the nearest point of a sphere, and its distance, by multiplier."""
        y, v = self.where, self.variances
        x = y / (1 + mu * v)
        return float(np.linalg.norm(x)), math.sqrt(float(np.sum((x - y) ** 2 / v)))


def length_limits(axes: Axes, delta: float) -> tuple[float, float]:
    """Return limits of the penalty, which is a length over √K and at most √(K - 1)."""
    groups = len(axes.where) + 1
    size = math.sqrt(groups)
    return axes.shortest(delta) / size, min(axes.longest(delta) / size, math.sqrt(groups - 1))


def _rounded(radius: float) -> float:
    """Round down to two digits, where critical values are larger, so that few are computed."""
    if radius <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(radius)) - 1)
    return math.floor(radius / unit) * unit
