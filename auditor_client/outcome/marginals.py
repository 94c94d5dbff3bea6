"""Average outcome of each group in each bin, with limits (Figures 4 and 6 of the paper).

A mean μ is in the interval unless (Σv - μn)² > q²·(sampling variance at μ + noise variance at μ).
Noise is in Σv and in n, so this combines Wilson's interval and Fieller's. If n is too uncertain for
a division, one or both limits are ends of the range: a one-sided bound, or none.

[Wilson 1927] for v = ±1, where the sampling variance at μ is n(1 - μ²).
[Fieller 1954] for the ratio of two noisy sums.
"""

from dataclasses import dataclass

import numpy as np

from auditor_client.outcome.bin_sums import NAMES, PERSONAL, BinSums, bin_sums
from auditor_client.outcome.error_quantiles import two_sided_quantile
from auditor_client.stats.outcome_moments import OutcomeMoments

UPPER = 1.645
UNDEFINED = "undefined"
_KINDS = {
    (False, False): "between",
    (True, False): "at most",
    (False, True): "at least",
    (True, True): UNDEFINED,
}


@dataclass(frozen=True)
class Marginal:
    """Average outcome of a group in a bin; NaN if the (noisy) numbers of people allow none.

    `rows` is the noisy number of rows; `kind` states which limits are informative.
    """

    group: str
    bin: int
    rows: float
    mean: float
    low: float
    high: float
    kind: str


def marginals(moments: OutcomeMoments, binary: bool, delta: float) -> list[Marginal]:
    """Return the marginals of all groups and bins, each with its own limits at about 1 - delta."""
    return [
        _marginal(moments, sums, group, number, binary, delta)
        for number in range(len(moments.edges) - 1)
        for sums in [bin_sums(moments, number, binary)]
        for group in range(len(moments.groups))
    ]


def _marginal(
    moments: OutcomeMoments, sums: BinSums, group: int, number: int, binary: bool, delta: float
) -> Marginal:
    rows, total = (float(value) for value in sums.sums[group, :2])
    low, high = mean_limits(sums, group, binary, delta)
    kind = _KINDS[low <= -1, high >= 1]
    mean = float(np.clip(total / rows, -1, 1)) if rows >= 1 and kind != UNDEFINED else np.nan
    mean, low, high = (float(moments.outcome(value)) for value in (mean, low, high))
    return Marginal(moments.groups[group], number, rows, mean, low, high, kind)


def mean_limits(sums: BinSums, group: int, binary: bool, delta: float) -> tuple[float, float]:
    """Limits of a group's mean v, within [-1, 1]."""
    n, v, vv = (float(sums.sums[group, NAMES.index(name)]) for name in ("n", "v", "vv"))
    of_n, of_v = sums.variance[:2]
    rows = max(n, 0.0) + UPPER * np.sqrt(of_n)
    squares = rows if binary else max(vv, 0.0) + UPPER * np.sqrt(sums.variance[5])
    factor = design_effect(sums, group)
    # |μ| <= 1, so the noise in Σv - μn has at most the variance of both
    sampling = factor * max(squares - v**2 / max(rows, 1.0), 0.0)
    total = (sampling + of_n + of_v) ** 2
    q2 = (
        two_sided_quantile(
            delta, freedom(sums, group), sums.fourth[:2].sum() / total if total else 0
        )
        ** 2
    )
    # (Σv - μn)² <= q²(f·S(μ) + σ_v² + μ²σ_n²), S(μ) = n(1 - μ²), or Σv² - 2μΣv + μ²n
    square = n**2 - q2 * (of_n + factor * (-rows if binary else rows))
    linear = -2 * n * v + (0.0 if binary else 2 * q2 * factor * v)
    return _hull(square, linear, v**2 - q2 * (factor * squares + of_v))


def _hull(square: float, linear: float, constant: float) -> tuple[float, float]:
    """Return the smallest interval around all μ in [-1, 1] with square·μ² + linear·μ + constant <=
    0.
    """
    roots = np.roots([square, linear, constant])
    real = [float(root.real) for root in roots if abs(root.imag) < 1e-12 and abs(root) <= 1]
    ends = [end for end in (-1.0, 1.0) if square + linear * end + constant <= 0]
    found = real + ends
    return (min(found), max(found)) if found else (-1.0, 1.0)


def freedom(sums: BinSums, group: int) -> float:
    people = sums.rows if sums.people is None else sums.people
    return max(float(people[group]) - 1, 1.0)


def design_effect(sums: BinSums, group: int) -> float:
    """Return the variance of Σ(v - v̄) over persons relative to that over rows, or an upper
    bound.
    """
    if sums.products is None:
        return float(sums.rows_per_person)
    n, v = sums.sums[group, :2]
    mean = v / max(n, 1.0)
    start = group * len(PERSONAL)
    by_person = sums.products[start : start + 2, start : start + 2]
    # Σ_p (v_p - v̄n_p)²
    clustered = by_person[1, 1] - 2 * mean * by_person[0, 1] + mean**2 * by_person[0, 0]
    alone = sums.sums[group, NAMES.index("vv")] - n * mean**2
    return float(max(clustered / alone, 1.0)) if alone > 0 else float(sums.rows_per_person)
