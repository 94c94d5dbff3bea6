"""Regression of outcomes on groups and scores within one bin, from sums (the paper's (1) and (2)).

The normal equations are A θ = b. With noise δ on the sums, the error of the estimate is A⁻¹(b + δb
− (A + δA)θ) up to terms of second order. The bracket is *linear* in the noise: for given θ its
variance is known exactly. So noise adds a second term to the middle of the sandwich, Var(θ̂) = A⁻¹
(sampling + noise) A⁻¹. The terms of second order, A⁻¹ δA (θ̂ - θ), have a variance too
(`second_order`). If noise could make the equations singular, there is no estimate (`frailty`).

[YS22] Yu, Saint-Jacques, "Choosing an algorithmic fairness metric for an online marketplace", eqs.
(1) and (2).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditor_client.errors import InputError
from auditor_client.outcome.bin_sums import NAMES, BinSums
from auditor_client.stats.noise_distributions import Floats

Control = Literal["linear", "slopes", "quadratic", "none"]
_DEGREES: dict[Control, int] = {"none": 0, "linear": 1, "slopes": 1, "quadratic": 2}
_SCORES, _OUTCOMES = ("n", "u", "uu"), ("v", "uv")
# Scores with a smaller variance, in squares of half a bin, count as equal.
_NO_SPREAD = 1e-12


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimate θ̂, with the inputs of its variance. `indices[g, k]` is the index in θ of group g's
    u^k.
    """

    sums: BinSums
    indices: NDArray[np.int64]
    theta: Floats
    inverse: Floats
    design: Floats
    at: float

    @property
    def degree(self) -> int:
        return int(self.indices.shape[1]) - 1

    def own(self, group: int) -> Floats:
        """Return the coefficients of one group: of 1, u, …"""
        return np.asarray(self.theta[self.indices[group]])

    def chosen(self, group: int) -> Floats:
        """Return the matrix that places a group's own equations among all equations."""
        found = np.zeros((len(self.theta), self.degree + 1))
        found[self.indices[group], np.arange(self.degree + 1)] = 1.0
        return found

    def contrast(self, group: int, other: int) -> Floats:
        """Return the weights of θ in the difference of the group's and the other's outcome at equal
        scores.
        """
        powers = self.at ** np.arange(self.degree + 1)
        return np.asarray((self.chosen(group) - self.chosen(other)) @ powers)

    def squares(self, group: int) -> tuple[float, Floats]:
        """Return a group's sum of squared residuals, and its weights on `NAMES` if these are
        sufficient.
        """
        own = self.own(group)
        weights = np.zeros(len(NAMES))
        weights[NAMES.index("vv")] = 1.0
        # Σr² = W_0 - 2 Σ_k θ_k U_k + Σ_kl θ_k θ_l T_{k+l}
        both = np.convolve(own, own)
        total = float(
            self.sums.of_squares(0)[group, 0]
            - 2 * own @ self.sums.of_outcomes(self.degree)[group]
            + both @ self.sums.of_scores(2 * self.degree)[group]
        )
        if self.degree < 2:
            for k, name in zip(range(self.degree + 1), _OUTCOMES, strict=False):
                weights[NAMES.index(name)] = -2 * own[k]
            for k, name in zip(range(2 * self.degree + 1), _SCORES, strict=False):
                weights[NAMES.index(name)] = both[k]
        return total, weights

    def entering(self, group: int) -> Floats:
        """Return a group's weights of released columns in its equations U_k - Σ_j θ_j T_{k+j}."""
        found = np.zeros((self.degree + 1, len(NAMES)))
        if self.degree < 2:  # higher degrees exist with exact sums only
            for k in range(self.degree + 1):
                found[k, NAMES.index(_OUTCOMES[k])] = 1.0
                for j, value in enumerate(self.own(group)):
                    found[k, NAMES.index(_SCORES[k + j])] -= value
        return np.asarray(found @ self.sums.to_names)

    @property
    def frailty(self) -> float:
        """E‖L⁻¹ δA L⁻ᵀ‖² with A = LLᵀ: the noise of the design relative to the design itself."""
        if self.sums.exact:
            return 0.0
        half = np.linalg.inv(np.linalg.cholesky(self.design))
        moved = half @ self._moved @ half.T
        return float(((moved**2).sum(axis=(2, 3)) @ self.sums.variance).sum())

    def second_order(self, weights: Floats, covariance: Floats) -> float:
        """Return the variance of wᵀ δA (θ̂ - θ), given that of θ̂, with w = A⁻¹c for a contrast
        c.
        """
        turned = self._moved @ weights
        by_column = np.einsum("gci,ij,gcj->gc", turned, covariance, turned)
        return float((by_column @ self.sums.variance).sum())

    @cached_property
    def _moved(self) -> Floats:
        """Derivatives of A by each released column of each group."""
        found = []
        for group in range(len(self.indices)):
            chosen = self.chosen(group)
            by_power = [chosen @ _hankel(k, self.degree) @ chosen.T for k in range(3)]
            found.append(np.einsum("kij,kc->cij", by_power, self.sums.to_names[_score_rows()]))
        return np.stack(found)


def fit(sums: BinSums, control: Control) -> Fit | None:
    """Return the regression, or None if the (noisy) equations have no unique solution."""
    if control not in _DEGREES:
        raise InputError(
            f"control must be one of {', '.join(_DEGREES)}, not {control!r}.",
            case="unknown-control",
        )
    if control == "quadratic" and sums.higher is None:
        raise InputError(
            "A quadratic control needs the sums of u³, u⁴ and u²Y, which no release has. "
            "Use control='slopes', or your own rows.",
            case="no-quadratic-sums",
        )
    if sums.exact and control != "none" and _spread(sums) < _NO_SPREAD:
        control = "none"  # all scores are equal, so there is nothing to control for
    indices = _coefficient_indices(len(sums.rows), control)
    degree = indices.shape[1] - 1
    size = int(indices.max()) + 1
    design, right = np.zeros((size, size)), np.zeros(size)
    powers, crossed = sums.of_scores(2 * degree), sums.of_outcomes(degree)
    for group, own in enumerate(indices):
        hankel = powers[group][np.add.outer(np.arange(degree + 1), np.arange(degree + 1))]
        design[np.ix_(own, own)] += hankel
        right[own] += crossed[group]
    values = np.linalg.eigvalsh(design)
    if values[0] <= 1e-10 * values[-1]:
        return None
    inverse = np.asarray(np.linalg.inv(design), np.float64)
    at = float(np.clip(sums.sums[:, 2].sum() / sums.rows.sum(), -1, 1))
    return Fit(sums, indices, inverse @ right, inverse, design, at)


def _coefficient_indices(groups: int, control: Control) -> NDArray[np.int64]:
    intercepts = np.arange(groups)[:, np.newaxis]
    if control == "slopes":
        return np.hstack([intercepts, groups + intercepts])
    shared = np.broadcast_to(groups + np.arange(_DEGREES[control]), (groups, _DEGREES[control]))
    return np.hstack([intercepts, shared])


def _spread(sums: BinSums) -> float:
    """Return the variance of scores within groups, all groups together."""
    n, u, uu = sums.of_scores(2).T
    filled = n > 0
    return float((uu - u**2 / np.where(filled, n, 1.0))[filled].sum() / max(n.sum(), 1.0))


def _hankel(power: int, degree: int) -> Floats:
    """Return the entries of a group's own equations that hold T_power."""
    exponents = np.add.outer(np.arange(degree + 1), np.arange(degree + 1))
    return np.asarray(exponents == power, np.float64)


def _score_rows() -> list[int]:
    return [NAMES.index(name) for name in _SCORES]
