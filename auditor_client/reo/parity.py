"""Metrics that need no labels of unseen items, and so no random traffic.

    parity (RSP)         U_k = shown of group k / available of group k
    precision@N_show     U_k = positives / shown, k the viewer's group

Both have the penalty std(U)/mean(U), like equal opportunity. The paper prints ΔU_k of RSP as a
plain difference, U_k - mean(U), where equal opportunity has a ratio: `plain` is the difference.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Appendix H, eq. 24 to 27.
"""

import numpy as np

from auditor_client.errors import InputError
from auditor_client.reo.counts import (
    AnyDistribution,
    PositiveCounts,
    Positives,
    align_groups,
    check_counts,
)
from auditor_client.reo.penalty_estimate import (
    Penalty,
    bound_penalty,
    check_delta,
    from_utilities,
    penalty_of,
    too_small,
)
from auditor_client.reo.utilities import Utilities
from auditor_client.stats.noise_distributions import NoNoise
from auditor_client.stats.noise_sums import sum_of_draws


def parity(
    shown: Positives,
    available: Positives,
    delta: float = 0.05,
    *,
    sampled: bool = False,
    noise_shown: AnyDistribution | None = None,
    noise_available: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> Penalty:
    """Return statistical parity: whether shown content has the proportions of the available
    content.

    `available` are pairs of viewers and items that could have been shown, by the creator's group:
    an exact inventory, or, with `sampled`, rows of random traffic, which is uniform over them.
    """
    check_delta(delta)
    rows = check_counts(shown, None, noise_shown, "what was shown")
    pool = align_groups(rows, check_counts(available, None, noise_available, "what is available"))
    if sampled or not isinstance(pool.noise, NoNoise):
        return penalty_of(rows, pool, delta, rows_per_viewer=rows_per_viewer)
    if (pool.positives <= 0).any():
        raise InputError(
            "Some group has no available content. Leave the group out.", case="nothing-available"
        )
    if small := too_small([(rows, "default")], rows_per_viewer):
        return bound_penalty(rows, pool, delta, rows_per_viewer, small)
    return _of_inventory(rows, pool, delta, rows_per_viewer)


def _of_inventory(
    rows: PositiveCounts, pool: PositiveCounts, delta: float, rows_per_viewer: int
) -> Penalty:
    u = rows.positives / pool.positives
    # Var(U_k) = Var(shown_k) / available_k²; the covariance of shares cancels, as in `utilities`
    spread = np.diag((rows_per_viewer * rows.positives + rows.noise.variance) / pool.positives**2)
    heavy = np.diag(rows.heavy / pool.positives**2)
    return from_utilities(Utilities(rows.groups, u, spread, heavy), delta)


def precision(
    positives: Positives,
    shown: Positives,
    delta: float = 0.05,
    *,
    noise: AnyDistribution | None = None,
    rows_per_viewer: int = 1,
) -> Penalty:
    """Return Precision@N_show by group of viewers: the relevant share of the content shown to them.

    Default traffic is sufficient: a request never shows more than N_show items, so its best utility
    does not depend on omitted items [DJHL25, H.2]. `noise` is that on the positives; the negatives
    have the same noise.
    """
    check_delta(delta)
    hits = check_counts(positives, None, noise, "the positives")
    rows = align_groups(
        hits, check_counts(shown, None, sum_of_draws(hits.noise, 2), "what was shown")
    )
    if small := too_small([(hits, "positive"), (rows, "default")], rows_per_viewer):
        return bound_penalty(hits, rows, delta, rows_per_viewer, small)
    u = np.clip(hits.positives / rows.positives, 0.0, 1.0)
    # Var(U) = U(1 - U)/rows; noise enters as ((1 - U)·dpositives - U·dnegatives)/rows
    slope = ((1 - u) ** 2 + u**2) / rows.positives**2
    spread = np.diag(rows_per_viewer * u * (1 - u) / rows.positives + hits.noise.variance * slope)
    heavy = np.diag(hits.heavy * slope)
    return from_utilities(Utilities(hits.groups, u, spread, heavy), delta)


def plain(found: Penalty) -> dict[str, float]:
    """Return U_k - mean(U), the ΔU_k of RSP as printed."""
    # ΔU_k = U_k - (1/K) Σ U_k'   [DJHL25, eq. 25]
    mean = sum(found.u.values()) / len(found.u)
    return {name: u - mean for name, u in found.u.items()}
