"""How many rows an estimate of the penalty needs, and how much random traffic a platform must run.

Shares are P(positive, group k) of a row: q_k in default traffic, p_k in random traffic.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Theorems E.1 to E.4 and Appendix I.2.

The theorems as printed take a normal error with variance v/n for smaller than ε with probability
1 - δ from n = v ln(1/δ)/ε² on (E.3, E.4), where their own tail bound exp(-ε²n/2v) asks for twice as
much; the bound v itself is loose by more than that. `method="exact"` uses the law of the estimate.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize

from auditor_client.errors import InputError
from auditor_client.laws import Floats
from auditor_client.reo.counts import AnyLaw, Counts, aligned, law_of
from auditor_client.reo.critical import quantile
from auditor_client.reo.estimates import check_delta
from auditor_client.reo.spheres import Axes
from auditor_client.reo.utilities import utilities

Shares = Mapping[str, float]
Method = Literal["exact", "theorem-e3", "theorem-e4"]
_DRAWS = 40_000
_MOST = 1e14


@dataclass(frozen=True)
class Rows:
    """Rows of default and of random traffic."""

    recommended: int
    random: int


@dataclass(frozen=True)
class RandomTraffic:
    """What a platform must run, and what it costs.

    `activation` is the share of requests that show random items, `lost` by how much the share of
    relevant rows falls, relative to default traffic alone.
    """

    rows: int
    activation: float
    lost: float


def share_rows(share: float, epsilon: float, delta: float = 0.05) -> int:
    """Rows that tell one share up to a relative error of epsilon (Theorem E.1, as printed)."""
    check_delta(delta)
    # |D| = ⌈3 p⁻¹ ε⁻² ln(2/δ)⌉   [DJHL25, proof of Theorem E.1]
    return math.ceil(3 * math.log(2 / delta) / (_positive(share) * _positive(epsilon) ** 2))


def rows_needed(
    recommended: Shares,
    random: Shares,
    epsilon: float,
    delta: float = 0.05,
    method: Method = "exact",
    *,
    balance: float = 1.0,
    noise: AnyLaw | None = None,
    rows_per_viewer: int = 1,
) -> Rows:
    """Rows for which the penalty is off by at most epsilon with probability 1 - delta.

    `exact` finds the least for `balance` rows of random traffic per row of default traffic, with
    noise on every count if it is given. The theorems have sizes and a balance of their own, and no
    noise; E.3 is about all ΔU_k at once.
    """
    shown, probed = _shares(recommended, random)
    check_delta(delta)
    if method != "exact":
        return _printed(shown.positives, probed.positives, _positive(epsilon), delta, method)

    def excess(log_rows: float) -> float:
        rows = math.exp(log_rows)
        return _error(shown, probed, rows, balance * rows, delta, noise, rows_per_viewer) - epsilon

    _positive(epsilon)
    if excess(math.log(_MOST)) > 0:
        raise InputError(f"No number of rows brings the error below {epsilon:g}.")
    rows = math.ceil(math.exp(optimize.brentq(excess, math.log(2.0), math.log(_MOST), xtol=1e-9)))
    return Rows(rows, math.ceil(balance * rows))


def error_at(
    recommended: Shares,
    random: Shares,
    rows: Rows,
    delta: float = 0.05,
    *,
    noise: AnyLaw | None = None,
    rows_per_viewer: int = 1,
) -> float:
    """By how much the penalty is off at most, with probability 1 - delta, from so many rows."""
    shown, probed = _shares(recommended, random)
    check_delta(delta)
    return _error(shown, probed, rows.recommended, rows.random, delta, noise, rows_per_viewer)


def random_traffic(
    recommended: Shares,
    random: Shares,
    epsilon: float,
    *,
    n_recommended: int,
    requests: float,
    shown: int,
    delta: float = 0.05,
    noise: AnyLaw | None = None,
    rows_per_viewer: int = 1,
) -> RandomTraffic:
    """How many of all `requests`, each showing `shown` items, must show random ones.

    `n_recommended` rows of default traffic are there in any case.
    """
    one, other = _shares(recommended, random)
    check_delta(delta)

    def excess(log_rows: float) -> float:
        rows = math.exp(log_rows)
        return _error(one, other, n_recommended, rows, delta, noise, rows_per_viewer) - epsilon

    if excess(math.log(_MOST)) > 0:
        least = excess(math.log(_MOST)) + epsilon
        raise InputError(
            f"{n_recommended} rows of default traffic leave an error of {least:.3g}, whatever the"
            " random traffic: log more of them."
        )
    rows = math.ceil(math.exp(optimize.brentq(excess, math.log(2.0), math.log(_MOST))))
    activation = rows / (requests * shown)
    if activation > 1:
        raise InputError(f"{rows} rows of random traffic are more than all requests show.")
    return RandomTraffic(rows, activation, activation * _loss(one, other))


def tradeoff(
    recommended: Shares,
    random: Shares,
    activations: list[float],
    *,
    n_recommended: int,
    requests: float,
    shown: int,
    delta: float = 0.05,
) -> list[tuple[RandomTraffic, float]]:
    """For each activation probability, its cost in relevance and the error of the penalty."""
    one, other = _shares(recommended, random)
    found = []
    for activation in activations:
        rows = math.floor(activation * requests * shown)
        error = _error(one, other, n_recommended, rows, delta, None, 1) if rows else math.inf
        found.append((RandomTraffic(rows, activation, activation * _loss(one, other)), error))
    return found


def _loss(recommended: Counts, random: Counts) -> float:
    """What a random row loses: U_rel falls from Σq to Σp   [DJHL25, I.2]."""
    return 1 - float(random.positives.sum() / recommended.positives.sum())


def _shares(recommended: Shares, random: Shares) -> tuple[Counts, Counts]:
    found = []
    for shares, traffic in ((recommended, "default"), (random, "random")):
        values = np.asarray([float(share) for share in shares.values()])
        if len(values) < 2 or not (values > 0).all() or values.sum() > 1:
            raise InputError(
                f"Shares of {traffic} traffic are of two groups or more, positive, and at most 1"
                " together."
            )
        found.append(Counts(tuple(shares), values))
    return found[0], aligned(found[0], found[1])


def _error(
    shown: Counts,
    probed: Counts,
    n: float,
    m: float,
    delta: float,
    noise: AnyLaw | None,
    rows_per_viewer: int,
) -> float:
    """The quantile of |estimate - penalty| under the normal law of relative utilities."""
    law = law_of(noise)
    made = utilities(
        Counts(shown.groups, n * shown.positives, n, law),
        Counts(probed.groups, m * probed.positives, m, law),
        rows_per_viewer=rows_per_viewer,
    )
    axes = Axes.of(made.relative, made.of_relative(made.covariance), made.of_relative(made.heavy))
    z = quantile(delta / 2, round(axes.heavy, 4))
    if len(made.u) == 2:
        return z * math.sqrt(float(axes.variances[0]) / 2)
    stretch = z / quantile(delta / 2)
    return stretch * float(np.quantile(_lengths(axes), 1 - delta)) / math.sqrt(len(made.u))


def _lengths(axes: Axes) -> Floats:
    """||y + error| - |y|| for drawn errors; the draws are always the same."""
    draws = np.random.default_rng(0).standard_normal((_DRAWS, len(axes.where)))
    moved = np.linalg.norm(axes.where + draws * np.sqrt(axes.variances), axis=1)
    return np.asarray(np.abs(moved - np.linalg.norm(axes.where)))


def _printed(q: Floats, p: Floats, epsilon: float, delta: float, method: Method) -> Rows:
    u, groups = q / p, len(q)
    log = math.log(groups / delta) if method == "theorem-e3" else math.log(1 / delta)
    # n = 4K² / (‖U‖₁² ε²) · ln(K/δ) or ln(1/δ)   [DJHL25, eq. 14 and 21]
    n = 4 * groups**2 / (float(u.sum()) ** 2 * epsilon**2) * log
    # |D_rec| = n max U_k² (1 - q_k)/q_k, |D_rand| = n max U_k² (1 - p_k)/p_k   [DJHL25, eq. 8]
    sizes = [math.ceil(n * float((u**2 * (1 - share) / share).max())) for share in (q, p)]
    return Rows(*sizes)


def _positive(value: float) -> float:
    if not value > 0:
        raise InputError(f"{value} must be greater than 0.")
    return value
