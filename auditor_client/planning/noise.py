"""Noise of an audit, from its price.

The service adds discrete Laplace noise of scale 1/epsilon, or discrete Gaussian noise of variance
1/(2·rho). A bought size has by default four times the scale of a bin, hence a quarter of epsilon,
or a sixteenth of rho.
"""

from dataclasses import dataclass
from typing import Literal

from auditor_client.stats.noise import AnyNoise, Epsilon, as_rate, gaussian_at

Mechanism = Literal["discrete-laplace", "discrete-gaussian"]

_OF_EPSILON, _OF_RHO = 4, 16


@dataclass(frozen=True, slots=True)
class Planned:
    """Noise of each bin, and of a bought size."""

    bins: AnyNoise
    size: AnyNoise


def planned_noise(
    mechanism: Mechanism,
    epsilon: Epsilon | None,
    rho: Epsilon | None,
    size_epsilon: Epsilon | None = None,
    size_rho: Epsilon | None = None,
) -> Planned:
    """Return the Laplace noise that `epsilon` buys (None: no noise), or the Gaussian of `rho`."""
    if mechanism == "discrete-laplace":
        if rho is not None or size_rho is not None:
            raise ValueError('rho buys Gaussian noise: say mechanism="discrete-gaussian"')
        rate = as_rate(epsilon)
        own = rate / _OF_EPSILON
        return Planned(rate, own if size_epsilon is None else as_rate(size_epsilon, "size_epsilon"))
    if mechanism != "discrete-gaussian":
        raise ValueError(
            f'mechanism must be "discrete-laplace" or "discrete-gaussian", not {mechanism!r}'
        )
    if rho is None or size_epsilon is not None:
        raise ValueError("Gaussian noise is bought with rho (and size_rho), not with epsilon")
    per_bin = as_rate(rho, "rho")
    size = per_bin / _OF_RHO if size_rho is None else as_rate(size_rho, "size_rho")
    return Planned(gaussian_at(per_bin), gaussian_at(size))
