"""Sums by powers for one bin of an outcome test, with their noise.

Rows of a group have coordinates u (score) and v (outcome). A regression of degree d needs only T_k
= Σu^k, U_k = Σu^k v and, for its residuals, W_k = Σu^k v².
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Floats, Laplace, Noise
from auditor_client.stats.outcome_moments import OutcomeMoments

# The columns of `OutcomeMoments.sums`, as products of u and v.
NAMES = ("n", "v", "u", "uu", "uv", "vv")
# Columns for a heteroskedasticity-robust variance, in addition to `NAMES`.
HIGHER = ("uuu", "uuuu", "uuv", "uuuv", "uvv", "uuvv")
# Sums over one person's rows; their products make a variance robust to clusters.
PERSONAL = ("n", "v", "u", "uv", "uu")


@dataclass(frozen=True, eq=False)
class PersonSums:
    """Sums over persons. A viewer of many candidates may have rows in several groups.

    `products` is Σ_p x_p x_pᵀ, where x_p is the sum of the rows of person p: bin by bin, group by
    group, in the order of `PERSONAL`. It has four axes, bin and column twice. `people[group, bin]`
    people have rows of that group in that bin, `clusters[bin]` people have rows of any group.
    """

    products: Floats
    people: NDArray[np.int64]
    clusters: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SharedQueries:
    """Rows that share a job or query with rows of other people, and the most in one of them."""

    rows: int
    queries: int
    most: int


@dataclass(frozen=True, eq=False)
class FrameMoments(OutcomeMoments):
    """Exact sums, including those that releases omit, for exact variances in place of bounds.

    `higher[group, bin]` are sums in the order of `HIGHER`. `left_out` rows were outside all bins.
    `shared` is None if no column of queries was named.
    """

    binary: bool = False
    higher: Floats | None = field(default=None, repr=False)
    personal: PersonSums | None = field(default=None, repr=False)
    left_out: int = 0
    shared: SharedQueries | None = None


@dataclass(frozen=True, eq=False)
class BinSums:
    """Sums of one bin, one row per group. If v is ±1, then v² is 1 and needs no column.

    `columns` are those of the release; `to_names` converts them to `NAMES`.
    """

    columns: Floats
    to_names: Floats
    variance: Floats
    fourth: Floats
    rows_per_person: int
    higher: Floats | None = None
    products: Floats | None = None
    people: Floats | None = None
    clusters: int = 0

    @property
    def sums(self) -> Floats:
        return np.asarray(self.columns @ self.to_names.T)

    @property
    def exact(self) -> bool:
        return not self.variance.any()

    @property
    def rows(self) -> Floats:
        """Estimate the number of rows of each group from the noisy counts."""
        return self.sums[:, 0]

    def of_scores(self, degree: int) -> Floats:
        """Return T_0 … T_degree, with one row per group."""
        return self._powers(("n", "u", "uu"), ("uuu", "uuuu"), degree)

    def of_outcomes(self, degree: int) -> Floats:
        """Return U_0 … U_degree."""
        return self._powers(("v", "uv"), ("uuv", "uuuv"), degree)

    def of_squares(self, degree: int) -> Floats:
        """Return W_0 … W_degree."""
        return self._powers(("vv",), ("uvv", "uuvv"), degree)

    def _powers(self, low: tuple[str, ...], high: tuple[str, ...], degree: int) -> Floats:
        found = self.sums[:, [NAMES.index(name) for name in low]]
        if degree >= len(low):
            if self.higher is None:
                raise InputError("These sums have no higher powers. Use your own rows.")
            more = self.higher[:, [HIGHER.index(name) for name in high]]
            found = np.concatenate([found, more], axis=1)
        return found[:, : degree + 1]

    def only(self, groups: list[int]) -> "BinSums":
        """Return the sums of these groups alone, in this order."""
        found = replace(self, columns=self.columns[groups])
        if self.higher is not None:
            found = replace(found, higher=self.higher[groups])
        if self.products is not None and self.people is not None:
            indices = np.add.outer(np.array(groups) * len(PERSONAL), np.arange(len(PERSONAL)))
            products = self.products[np.ix_(indices.ravel(), indices.ravel())]
            found = replace(found, products=products, people=self.people[groups])
        return found

    def spread(self, weights: Floats) -> Floats:
        """Return the standard deviation of the noise in a weighted sum of `NAMES`, or of
        several.
        """
        return np.sqrt((weights @ self.to_names) ** 2 @ self.variance)


def bin_sums(moments: OutcomeMoments, number: int, binary: bool) -> BinSums:
    to_names = np.eye(len(NAMES))
    if binary:
        to_names[NAMES.index("vv")] = to_names[NAMES.index("n")]
    variance = moments.noise_variance
    found = BinSums(
        moments.sums[:, number],
        to_names,
        variance,
        _excess_kurtosis(moments.noise) * variance**2,
        moments.rows_per_person,
    )
    if isinstance(moments, FrameMoments) and moments.higher is not None:
        found = replace(found, higher=moments.higher[:, number])
    if isinstance(moments, FrameMoments) and moments.personal is not None:
        found = replace(
            found,
            products=moments.personal.products[number, :, number],
            people=moments.personal.people[:, number].astype(np.float64),
            clusters=int(moments.personal.clusters[number]),
        )
    return found


def _excess_kurtosis(law: Noise) -> float:
    """Return the excess kurtosis of discrete Laplace noise.

    A discrete Gaussian's tails are not heavier than normal.
    """
    if not isinstance(law, Laplace):
        return 0.0
    # κ₄/κ₂² = (1 + 4ρ + ρ²)/2ρ = 2 + cosh(rate), ρ = exp(-rate): Z is a difference of two
    # geometrics, each with κ₂ = ρ/(1-ρ)² and κ₄ = ρ(1 + 4ρ + ρ²)/(1-ρ)⁴
    return float(2 + np.cosh(min(law.rate, 500.0)))
