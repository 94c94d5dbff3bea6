"""Variance of a regression's coefficients: the middle of the sandwich A⁻¹ M A⁻¹.

    classical   one variance for all residuals, as textbooks have it
    hc0, hc1    robust to heteroskedasticity (White), hc1 with n/(n - p); needs `HIGHER`
    cluster     robust to what one person's rows share (Liang and Zeger); needs `PERSONAL`
    guarded     the default: exact where the sums allow it, else a bound that is proved below

*The bound.* With c = A⁻¹w the weights of a contrast, its HC0 variance is Σ_i (c·x_i)² r_i². Centred
at the group's mean place ū, c·x_i = Σ_k c_k (u_i - ū)^k, and |u_i - ū| <= h = 1 + |ū| as u lies
in [-1, 1]. For any shares w_k that sum to one (Σ|c_k|h^k)² <= Σ c_k² h^2k / w_k [Cauchy, Schwarz],
so M <= Σr² · diag(h^2k / w_k) in that basis; w_k ∝ |c_k|h^k makes it an equality. Where it is less,
Σ(u - ū)^2k r² is also at most R² h^(2k-2) Σ(u - ū)², R = 1 + max|fitted| being the largest residual
as v lies in [-1, 1]. Only Σr² and Σ(u - ū)² are needed, which second moments give.

*Rows of one person.* (Σ of m terms)² <= m · (sum of squares): with at most m rows per person the
cluster-robust variance, of all bins together too, is at most m times the one for independent rows.

*Few outcomes.* Each group gets two more rows in M (not in the estimate), at the ends of the range
of outcomes: residuals that happen to be all equal have less information than they seem to [AC00].

*Noise in Σr² and Σ(u - ū)²* is covered by their upper 95 % limits.

[AC00] Agresti, Caffo, The American Statistician 54 (2000): two successes and two failures.
"""

from typing import Literal

import numpy as np

from auditor_client.errors import InputError
from auditor_client.outcome.bin_sums import NAMES, PERSONAL
from auditor_client.outcome.regression import Fit
from auditor_client.stats.noise_distributions import Floats

Variance = Literal["guarded", "classical", "hc0", "hc1", "cluster"]
UPPER = 1.645
_KINDS = ("guarded", "classical", "hc0", "hc1", "cluster")


def sampling(fit: Fit, variance: Variance, contrasts: Floats) -> Floats:
    """Return the covariance of contrasts (columns) that the sampling of rows causes."""
    if variance not in _KINDS:
        raise InputError(f"variance must be one of {', '.join(_KINDS)}, not {variance!r}.")
    weights = fit.inverse @ contrasts
    if variance == "guarded" and fit.degree < 2 and fit.sums.products is not None:
        return _sandwich(fit, weights, "cluster") + _two_rows(fit, weights)
    if variance == "guarded" and fit.degree < 2 and _robust(fit):
        return _sandwich(fit, weights, "hc1") + _two_rows(fit, weights)
    if variance == "guarded":
        return _bound(fit, weights)
    return _sandwich(fit, weights, variance)


def noise(fit: Fit, contrasts: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of contrasts that noise causes, and the effect of each column on
    them.
    """
    weights = fit.inverse @ contrasts
    entering = np.concatenate(
        [weights.T @ fit.chosen(group) @ fit.entering(group) for group in _groups(fit)], axis=1
    )
    variances = np.tile(fit.sums.variance, len(fit.indices))
    return (entering * variances) @ entering.T, entering


def _robust(fit: Fit) -> bool:
    return fit.sums.higher is not None and fit.sums.rows_per_person == 1


def _sandwich(fit: Fit, weights: Floats, variance: Variance) -> Floats:
    parts = {"classical": _classical, "hc0": _white, "hc1": _white, "cluster": _clustered}
    filling = parts[variance](fit)
    rows, size = fit.sums.rows.sum(), len(fit.theta)
    if variance == "hc1":
        filling = filling * (rows / max(rows - size, 1.0))
    return np.asarray(weights.T @ filling @ weights)


def _classical(fit: Fit) -> Floats:
    total = sum(fit.squares(group)[0] for group in _groups(fit))
    return np.asarray(fit.design * total / max(fit.sums.rows.sum() - len(fit.theta), 1.0))


def _white(fit: Fit) -> Floats:
    """Return Σ x xᵀ r², from sums of u^k r² = W_k - 2 Σ_j θ_j U_{k+j} + Σ_j (θ*θ)_j T_{k+j}."""
    if fit.sums.higher is None or fit.degree > 1:
        raise InputError(
            "A robust variance needs your own rows and a control of degree one.",
            case="rows-for-a-robust-variance",
        )
    filling = np.zeros_like(fit.design)
    degree = fit.degree
    for group in _groups(fit):
        own = fit.own(group)
        both = np.convolve(own, own)
        t, u, w = (
            fit.sums.of_scores(4 * degree)[group],
            fit.sums.of_outcomes(3 * degree)[group],
            fit.sums.of_squares(2 * degree)[group],
        )
        powers = np.array(
            [
                w[k] - 2 * own @ u[k : k + degree + 1] + both @ t[k : k + 2 * degree + 1]
                for k in range(2 * degree + 1)
            ]
        )
        chosen = fit.chosen(group)
        index = np.add.outer(np.arange(degree + 1), np.arange(degree + 1))
        filling += chosen @ powers[index] @ chosen.T
    return filling


def _clustered(fit: Fit) -> Floats:
    """Return Σ_p g_p g_pᵀ, where g_p = Σ over p's rows of x r, with the usual factor for few
    clusters.
    """
    if fit.sums.products is None or fit.degree > 1:
        raise InputError(
            "A cluster-robust variance needs your own rows with their persons, and a "
            "control of degree 1.",
            case="persons-for-clusters",
        )
    taken = personal(fit)
    clusters, rows = fit.sums.clusters, float(fit.sums.rows.sum())
    factor = clusters / max(clusters - 1, 1) * (rows - 1) / max(rows - len(fit.theta), 1.0)
    return np.asarray(taken @ fit.sums.products @ taken.T * factor)


def personal(fit: Fit) -> Floats:
    """Return the weights of a person's sums, the `PERSONAL` of each group, in the equations."""
    parts = []
    for group in _groups(fit):
        own = fit.own(group)
        # g = (v - θ₀n - θ₁u, uv - θ₀u - θ₁uu)
        takes = np.zeros((fit.degree + 1, len(PERSONAL)))
        takes[0, :2] = -own[0], 1.0
        if fit.degree:
            takes[0, 2] = -own[1]
            takes[1, 2:] = -own[0], 1.0, -own[1]
        parts.append(fit.chosen(group) @ takes)
    return np.concatenate(parts, axis=1)


def _two_rows(fit: Fit, weights: Floats) -> Floats:
    total = np.zeros((weights.shape[1],) * 2)
    for group in _groups(fit):
        mean, position = fitted_mean(fit, group)
        row = weights.T @ fit.chosen(group) @ position ** np.arange(fit.degree + 1)
        share = _rows_of_one(fit, group)
        total += np.outer(row, row) * _ends(mean) * share**2
    return total


def _rows_of_one(fit: Fit, group: int) -> float:
    """Return the average number of rows per person."""
    if fit.sums.people is None:
        return 1.0
    return float(fit.sums.rows[group] / max(fit.sums.people[group], 1.0))


def fitted_mean(fit: Fit, group: int) -> tuple[float, float]:
    """Return a group's fitted outcome at its mean position, both clipped to their range."""
    n, u = fit.sums.of_scores(1)[group] if fit.degree else (fit.sums.rows[group], 0.0)
    position = float(np.clip(u / max(n, 1.0), -1, 1))
    mean = float(np.clip(fit.own(group) @ position ** np.arange(fit.degree + 1), -1, 1))
    return mean, position


def _ends(mean: float) -> float:
    """Return the squared residuals of two rows at the ends of the range."""
    return (1 - mean) ** 2 + (1 + mean) ** 2


def _bound(fit: Fit, weights: Floats) -> Floats:
    """Return the proved bound, multiplied by the largest number of rows of one person."""
    parts = np.zeros((fit.degree + 1, *(weights.shape[1],) * 2))
    for group in _groups(fit):
        position = fitted_mean(fit, group)[1]
        # c·x(u) = Σ_k c_k (u - ū)^k
        centred = _recentred(position, fit.degree).T @ fit.chosen(group).T @ weights
        for k, most in enumerate(_most(fit, group)):
            parts[k] += most * np.outer(centred[k], centred[k])
    # One choice of shares is used for all contrasts; for a single contrast it is the best.
    sizes = np.sqrt(np.trace(parts, axis1=1, axis2=2))
    shares = np.where(sizes > 0, sizes / max(sizes.sum(), 1e-300), 1.0)
    bound = (parts / shares[:, np.newaxis, np.newaxis]).sum(axis=0)
    return np.asarray(bound * fit.sums.rows_per_person)


def _most(fit: Fit, group: int) -> list[float]:
    """Return upper bounds of Σ(u - ū)^2k r² for k = 0, 1, …"""
    total, columns = fit.squares(group)
    mean, position = fitted_mean(fit, group)
    squares = max(total, 0.0) + UPPER * float(fit.sums.spread(columns)) + _ends(mean)
    reach, largest = 1 + abs(position), 1 + float(np.abs(fit.own(group)).sum())
    # Σ(u - ū)² = Σu² - 2ūΣu + ū²n
    around = np.zeros(len(NAMES))
    around[[NAMES.index(name) for name in ("uu", "u", "n")]] = 1.0, -2 * position, position**2
    spread = max(float(around @ fit.sums.sums[group]), 0.0)
    spread += UPPER * float(fit.sums.spread(around))
    second = min(squares * reach**2, spread * largest**2)
    return [squares, *(second * reach ** (2 * k) for k in range(fit.degree))]


def _recentred(position: float, degree: int) -> Floats:
    """Return Q with u^k = Σ_l Q[k, l] (u - position)^l."""
    if degree == 0:
        return np.ones((1, 1))
    rows = [[1.0, 0.0, 0.0], [position, 1.0, 0.0], [position**2, 2 * position, 1.0]]
    return np.array(rows)[: degree + 1, : degree + 1]


def _groups(fit: Fit) -> range:
    return range(len(fit.indices))
