"""Limits of the penalty of two groups, from the logarithm of the ratio of their utilities.

With θ = ln(U_1/U_2) the penalty is |U_1 - U_2| / (U_1 + U_2) = tanh(|θ|/2), which grows with |θ|.
An interval of θ gives an interval of the penalty that also holds at zero. Errors of logarithms of
counts are nearer to normal than errors of ratios, so this scale is better for small counts.
"""

import math

import numpy as np

from auditor_client.reo.utilities import Utilities
from auditor_client.stats.critical_values import quantile


def ratio_limits(made: Utilities, delta: float) -> tuple[float, float]:
    """Return the limits of the penalty for θ ± z·se."""
    theta = abs(math.log(made.u[0] / made.u[1]))
    slope = np.asarray([1 / made.u[0], -1 / made.u[1]])
    variance = max(float(slope @ made.covariance @ slope), 0.0)
    share = float(slope @ made.heavy @ slope) / variance if variance else 0.0
    off = quantile(delta / 2, round(share, 4)) * math.sqrt(variance)
    return math.tanh(max(theta - off, 0.0) / 2), math.tanh((theta + off) / 2)
