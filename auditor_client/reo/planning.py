"""Number of rows that an estimate of shares, utilities or the penalty needs.

Shares are P(positive, group k) of a row: q_k in default traffic, p_k in random traffic.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Theorems E.1 to E.4.

The theorems as printed claim that a normal error with variance v/n is below ε with probability 1 -
δ from n = v ln(1/δ)/ε² on (E.3, E.4). Their own tail bound exp(-ε²n/2v) requires twice that; the
bound v itself is loose by more than this factor. E.2 has the factor two. `method="exact"` uses the
distribution of the estimate.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize

from auditor_client.errors import InputError
from auditor_client.reo.counts import AnyDistribution, PositiveCounts, align_groups, as_distribution
from auditor_client.reo.norm_bounds import Axes
from auditor_client.reo.penalty_estimate import check_delta
from auditor_client.reo.utilities import utilities
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats

Shares = Mapping[str, float]
Method = Literal["exact", "theorem-e3", "theorem-e4"]
_DRAWS = 40_000
_MOST = 1e14


@dataclass(frozen=True)
class TrafficRows:
    """Numbers of rows of default and of random traffic."""

    recommended: int
    random: int


def share_rows(share: float, epsilon: float, delta: float = 0.05) -> int:
    """Return the rows for one share with a relative error of at most epsilon (Theorem E.1, as
    printed).
    """
    check_delta(delta)
    # |D| = ⌈3 p⁻¹ ε⁻² ln(2/δ)⌉   [DJHL25, proof of Theorem E.1]
    return math.ceil(3 * math.log(2 / delta) / (_positive(share) * _positive(epsilon) ** 2))


def utility_rows(
    recommended: Shares,
    random: Shares,
    epsilon: float,
    delta: float = 0.05,
    method: Literal["exact", "theorem-e2"] = "exact",
    *,
    shown_share: float = 1.0,
    balance: float = 1.0,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> TrafficRows:
    """Return the rows for which any single utility U_k errs by at most epsilon, with probability
    1 - delta each.

    U_k is the probability that a relevant item of group k is shown: q_k/p_k times `shown_share`,
    the probability for any item. By default, U_k and epsilon are relative to that factor.
    """
    shown, probed = shares_of(recommended, random)
    check_delta(delta)
    _positive(shown_share)
    if method == "theorem-e2":
        # n = ⌈4 ε⁻² ln(1/δ)⌉   [DJHL25, proof of Theorem E.2]
        n = math.ceil(4 * math.log(1 / delta) / _positive(epsilon) ** 2)
        return _sizes(n, shown.positives, probed.positives, shown_share)

    def error(rows: float) -> float:
        # The variance that the paper prints is exact for a single share, though not for several.
        both = _expected(shown, probed, rows, balance * rows, noise)
        made = utilities(*both, "printed", rows_per_viewer=rows_per_viewer)
        variances, heavy = np.diag(made.covariance), np.diag(made.heavy)
        return shown_share * max(
            quantile(delta / 2, round(part / variance, 4)) * math.sqrt(variance)
            for variance, part in zip(variances.tolist(), heavy.tolist(), strict=True)
        )

    return _least(error, epsilon, balance)


def rows_needed(
    recommended: Shares,
    random: Shares,
    epsilon: float,
    delta: float = 0.05,
    method: Method = "exact",
    *,
    balance: float = 1.0,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> TrafficRows:
    """Return the rows for which the penalty errs by at most epsilon with probability 1 - delta.

    `exact` finds the smallest number for `balance` rows of random traffic per row of default
    traffic, with noise on every count if given. The theorems have their own sizes and balance, and
    no noise; E.3 covers all ΔU_k at once.
    """
    shown, probed = shares_of(recommended, random)
    check_delta(delta)
    if method != "exact":
        return _printed(shown.positives, probed.positives, _positive(epsilon), delta, method)

    def error(rows: float) -> float:
        return error_of(shown, probed, rows, balance * rows, delta, noise, rows_per_viewer)

    return _least(error, epsilon, balance)


def error_at(
    recommended: Shares,
    random: Shares,
    rows: TrafficRows,
    delta: float = 0.05,
    *,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> float:
    """Return the bound on the penalty's error that holds with probability 1 - delta for these
    rows.
    """
    shown, probed = shares_of(recommended, random)
    check_delta(delta)
    return error_of(shown, probed, rows.recommended, rows.random, delta, noise, rows_per_viewer)


def shares_of(recommended: Shares, random: Shares) -> tuple[PositiveCounts, PositiveCounts]:
    found = []
    for shares, traffic in ((recommended, "default"), (random, "random")):
        values = np.asarray([float(share) for share in shares.values()])
        if len(values) < 2 or not (values > 0).all() or values.sum() > 1:
            raise InputError(
                f"Shares of {traffic} traffic must be positive, for at least two groups, "
                "and at most 1 in total."
            )
        found.append(PositiveCounts(tuple(shares), values))
    return found[0], align_groups(found[0], found[1])


def error_of(
    shown: PositiveCounts,
    probed: PositiveCounts,
    n: float,
    m: float,
    delta: float,
    noise: AnyDistribution | None,
    rows_per_viewer: int,
) -> float:
    """Return the quantile of |estimate - penalty| under the normal distribution of relative
    utilities.
    """
    both = _expected(shown, probed, n, m, noise)
    made = utilities(*both, rows_per_viewer=rows_per_viewer)
    axes = Axes.of(made.relative, made.of_relative(made.covariance), made.of_relative(made.heavy))
    z = quantile(delta / 2, round(axes.heavy, 4))
    if len(made.u) == 2:
        return z * math.sqrt(float(axes.variances[0]) / 2)
    stretch = z / quantile(delta / 2)
    return stretch * float(np.quantile(_lengths(axes), 1 - delta)) / math.sqrt(len(made.u))


def _expected(
    shown: PositiveCounts, probed: PositiveCounts, n: float, m: float, noise: AnyDistribution | None
) -> tuple[PositiveCounts, PositiveCounts]:
    """Return the expected counts of n default and m random rows."""
    law = as_distribution(noise)
    return (
        PositiveCounts(shown.groups, n * shown.positives, n, law),
        PositiveCounts(probed.groups, m * probed.positives, m, law),
    )


def _lengths(axes: Axes) -> Floats:
    """Return ||y + error| - |y|| for drawn errors; the draws are always the same."""
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(axes.where)))
    moved = np.linalg.norm(axes.where + draws * np.sqrt(axes.variances), axis=1)
    return np.asarray(np.abs(moved - np.linalg.norm(axes.where)))


def _printed(q: Floats, p: Floats, epsilon: float, delta: float, method: Method) -> TrafficRows:
    groups, total = len(q), float((q / p).sum())
    log = math.log(groups / delta) if method == "theorem-e3" else math.log(1 / delta)
    # n = 4K² / (‖U‖₁² ε²) · ln(K/δ) or ln(1/δ)   [DJHL25, eq. 14 and 21]
    return _sizes(4 * groups**2 / (total**2 * epsilon**2) * log, q, p)


def _sizes(n: float, q: Floats, p: Floats, factor: float = 1.0) -> TrafficRows:
    u = factor * q / p
    # |D_rec| = n max U_k² (1 - q_k)/q_k, |D_rand| = n max U_k² (1 - p_k)/p_k   [DJHL25, eq. 8]
    return TrafficRows(
        *(math.ceil(n * float((u**2 * (1 - share) / share).max())) for share in (q, p))
    )


def _least(error: Callable[[float], float], epsilon: float, balance: float) -> TrafficRows:
    found = least_rows(error, epsilon)
    if found is None:
        raise InputError(
            f"No number of rows brings the error below {epsilon:g}.", case="never-enough-rows"
        )
    return TrafficRows(found, math.ceil(balance * found))


def least_rows(error: Callable[[float], float], epsilon: float) -> int | None:
    """Return the fewest rows, at least two, with an error of at most epsilon; the error decreases
    with rows.
    """
    _positive(epsilon)
    if error(_MOST) > epsilon:
        return None
    if error(2.0) <= epsilon:
        return 2
    ends = math.log(2.0), math.log(_MOST)
    log_rows = optimize.brentq(lambda log: error(math.exp(log)) - epsilon, *ends, xtol=1e-9)
    return math.ceil(math.exp(log_rows))


def _positive(value: float) -> float:
    if not value > 0:
        raise InputError(f"{value} must be greater than 0.")
    return value
