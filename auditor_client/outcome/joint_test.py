"""Joint test of all effects: one statistic over all bins, and joint limits and p-values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from auditor_client.outcome.bin_sums import PERSONAL, FrameMoments
from auditor_client.outcome.effects import Effect, Joint
from auditor_client.outcome.error_quantiles import two_sided_quantile, wald_tail
from auditor_client.stats.noise_distributions import Floats
from auditor_client.stats.outcome_moments import OutcomeMoments


@dataclass(frozen=True)
class Wald:
    """Wald test that all effects in all tested bins are zero."""

    statistic: float
    freedom: int
    p_value: float


def wald(joints: Sequence[Joint], moments: OutcomeMoments, order: Sequence[int]) -> Wald | None:
    """Return Wald's statistic, or None if no bin is defined.

    Noise is independent between bins, and so are rows of different people. A person's contributions
    to several bins are known for own rows, and otherwise within the bound of `sandwich_variance`.
    """
    if not joints:
        return None
    estimates = np.concatenate([each.estimates for each in joints])
    covariance = linalg.block_diag(*(each.covariance for each in joints))
    if isinstance(moments, FrameMoments) and moments.personal is not None:
        covariance = _with_people(covariance, joints, moments.personal.products, order)
    inverse = np.linalg.pinv(covariance)
    statistic = float(estimates @ inverse @ estimates)
    # Var(xᵀV⁻¹x) = 2k + Σ_c κ₄(c)·(e_cᵀ V⁻¹ e_c)², where e_c is the effect of the noisy column c on
    # x
    noisy = linalg.block_diag(*(each.noisy for each in joints))
    lengths = np.einsum("ic,ij,jc->c", noisy, inverse, noisy, optimize=True)
    fourth = float(lengths**2 @ np.concatenate([each.fourth for each in joints]))
    return Wald(statistic, len(estimates), wald_tail(statistic, len(estimates), fourth))


def _with_people(
    covariance: Floats, joints: Sequence[Joint], products: Floats, order: Sequence[int]
) -> Floats:
    """Return the covariance between bins caused by people with rows in several of them."""
    indices = np.add.outer(np.array(order) * len(PERSONAL), np.arange(len(PERSONAL))).ravel()
    found, size = covariance.copy(), len(joints[0].estimates)
    for i, one in enumerate(joints):
        for j, other in enumerate(joints):
            if i != j and one.influence is not None and other.influence is not None:
                between = products[one.bin][:, other.bin][np.ix_(indices, indices)]
                block = one.influence @ between @ other.influence.T
                found[i * size : (i + 1) * size, j * size : (j + 1) * size] = block
    return found


def adjust_for_multiplicity(
    effects: list[Effect], tested: tuple[int, ...], delta: float
) -> list[Effect]:
    """Return effects with simultaneous limits (Bonferroni) and Holm's p-values."""
    family = [each for each in effects if each.bin in tested and each.defined]
    holm = dict(zip(map(id, family), _holm([each.p_value for each in family]), strict=True))
    found = []
    for each in effects:
        if id(each) in holm:
            q = two_sided_quantile(delta / len(family), each.freedom, each.kurtosis)
            low, high = each.estimate - q * each.se, each.estimate + q * each.se
            each = replace(each, low_all=low, high_all=high, adjusted=holm[id(each)])
        found.append(each)
    return found


def _holm(values: Sequence[float]) -> list[float]:
    """Return Holm's step-down p-values, in the given order."""
    found = np.zeros(len(values))
    reached = 0.0
    for rank, index in enumerate(np.argsort(values)):
        reached = max(reached, min((len(values) - rank) * values[index], 1.0))
        found[index] = reached
    return [float(value) for value in found]
