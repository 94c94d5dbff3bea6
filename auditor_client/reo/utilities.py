"""Utilities of groups, relative utilities, and their errors.

    U_k = P(shown | relevant, group k), known up to a common factor: (X_k/n) / (W_k/m)
    ΔU_k = U_k / mean(U) - 1

with X_k positives of group k among n rows of default traffic, W_k among m rows of random traffic.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, eq. 5 to 7, Algorithm 1 and Appendix F.

Algorithm 1 treats groups as independent, each with the variance of a share: X_k(1 - X_k/n). They
are parts of one multinomial count, with covariances -X_j X_k/n. In ΔU, which no common factor
changes, all of -X Xᵀ/n cancels, and variances X_k remain: larger than the printed ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from auditor_client.errors import InputError
from auditor_client.reo.counts import PositiveCounts
from auditor_client.stats.noise_distributions import Floats

Covariance = Literal["exact", "printed"]


@dataclass(frozen=True, eq=False)
class Utilities:
    """Utilities of groups up to a common factor, and the covariance of their errors.

    `heavy` is the part of the covariance from noise with heavier tails than normal.
    """

    groups: tuple[str, ...]
    u: Floats
    covariance: Floats
    heavy: Floats

    @property
    def relative(self) -> Floats:
        # ΔU_k = U_k / mean(U) - 1   [DJHL25, eq. 7]
        return np.asarray(self.u / self.u.mean() - 1)

    @property
    def penalty(self) -> float:
        # Δ_REO = std(U) / mean(U), std of a population   [DJHL25, eq. 6, with 1/K as in eq. 19]
        return float(np.sqrt(np.mean(self.relative**2)))

    @property
    def jacobian(self) -> Floats:
        """Derivatives ∂ΔU_k / ∂U_j in row k and column j: the transpose of the paper's G."""
        size, total = len(self.u), self.u.sum()
        return np.asarray(size * (np.eye(size) * total - self.u[:, None]) / total**2)

    def of_relative(self, covariance: Floats) -> Floats:
        """Return the covariance of ΔU from one of U, by the delta method."""
        # Σ = Gᵀ Γ G   [DJHL25, Algorithm 1]
        return np.asarray(self.jacobian @ covariance @ self.jacobian.T)

    def direction(self) -> Floats:
        """Return the gradient of the penalty in ΔU, which does not exist at zero."""
        # H_k = ΔU_k / (K Δ_REO)   [DJHL25, Appendix F]
        return np.asarray(self.relative / (len(self.u) * self.penalty))


def utilities(
    recommended: PositiveCounts,
    random: PositiveCounts,
    covariance: Covariance = "exact",
    rows_per_viewer: int = 1,
) -> Utilities:
    """Return the utilities from two traffics; denominators must be positive.

    If a viewer has up to m = `rows_per_viewer` rows, these are not independent. (Σ a_r)² is at most
    m Σ a_r² for m rows (Cauchy, Schwarz), so no combination of counts has more than m times the
    variance of independent rows, whichever rows of both traffics are one viewer's.
    """
    both = (recommended, random)
    cells = np.diag(variances(both, covariance, rows_per_viewer))
    return utilities_from_cells(recommended, random, cells, np.diag(heavy_variances(both)))


def utilities_from_cells(
    recommended: PositiveCounts, random: PositiveCounts, cells: Floats, heavy: Floats | None = None
) -> Utilities:
    """Return utilities whose 2K counts, default traffic first, have this covariance."""
    u, by_shown, by_random = slopes(recommended, random)
    both = np.hstack([by_shown, by_random])
    rest = np.zeros_like(cells) if heavy is None else heavy
    return Utilities(recommended.groups, u, both @ cells @ both.T, both @ rest @ both.T)


def slopes(recommended: PositiveCounts, random: PositiveCounts) -> tuple[Floats, Floats, Floats]:
    """Return U, its derivatives by the counts of default traffic, and those by the counts of random
    traffic.
    """
    scale = (random.rows or 1.0) / (recommended.rows or 1.0)
    u = np.asarray(scale * recommended.positives / random.positives)
    # ∂U_k/∂X_k = U_k/X_k, written so that X_k may be 0; ∂U_k/∂W_k = -U_k/W_k
    return u, np.diag(scale / random.positives), np.diag(-u / random.positives)


def variances(
    traffics: Sequence[PositiveCounts], covariance: Covariance = "exact", rows_per_viewer: int = 1
) -> Floats:
    """Return the variances of all counts of some traffics, in order."""
    spreads = [_printed(one) if covariance == "printed" else one.positives for one in traffics]
    noise = np.repeat([one.noise.variance for one in traffics], len(traffics[0].groups))
    return np.asarray(rows_per_viewer * np.maximum(np.concatenate(spreads), 0.0) + noise)


def heavy_variances(traffics: Sequence[PositiveCounts]) -> Floats:
    """Return the part of the variances from noise with heavier tails than normal."""
    return np.repeat([one.heavy for one in traffics], len(traffics[0].groups))


def _printed(counts: PositiveCounts) -> Floats:
    if counts.rows is None:
        raise InputError(
            "Algorithm 1 as printed needs the number of rows of both traffics.",
            case="no-numbers-of-rows",
        )
    # Γ_kk = U_k² ((1 - Q_k)/(Q_k |D_rec|) + (1 - P_k)/(P_k |D_rand|))   [DJHL25, Algorithm 1]
    return np.asarray(counts.positives * (1 - counts.positives / counts.rows))
