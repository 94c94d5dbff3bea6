"""Attenuation of differences by soft labels, and its correction under stated assumptions.

Let p_i be calibrated: P(i is in group l | proxies of i) = p_il. Let w be the weights in use (p, or
p clipped), and v the values. A group's average over weights estimates

    E[μ̂_j] = Σ_l A_jl μ_l,   A_jl = Σ_i w_ij p_il / Σ_i w_ij       if v is independent of the
                                                                    proxies given the group     (CI)

since E[Σ_i w_ij v_i] = Σ_i w_ij Σ_l p_il μ_l. So μ = A⁻¹ E[μ̂]; every row of A adds up to one, and
differences shrink. The auditor can compute A alone; with w = p it is the regression of v on p.

(CI) fails if people with the same group but different proxies are treated differently. For one
group compared with the rest, w = p, without (CI), with R = 1 in the group and D its true
difference:

    weighted   D_w = cov(v, p)/var(R) = D - E[cov(v, R | p)] / var(R)
    corrected  D_c = cov(v, p)/var(p) = D + E[cov(v, p | R)] / var(p)

Proof. cov(v, R) = D·var(R), and cov(v, R) = E[cov(v, R | x)] + cov(E[v | x], p) with x the proxies:
the first. cov(v, p) = E[cov(v, p | R)] + cov(E[v | R], E[p | R]), the last being
D·var(R)·(E[p | 1] - E[p | 0]) = D·cov(p, R) = D·var(p) by calibration: the second.             ∎

Hence, if both conditional covariances are not negative, or both are not positive, D lies between
D_w and D_c: `sandwich`. The condition means that two effects have the same direction: that of the
group among people with equal proxies, and that of the proxies within a group. D_w = λ·D_c with λ =
var(p)/(p̄(1 - p̄)), the share of a gap that soft labels preserve.

[CKM19] Chen, Kallus, Mao, Svacha, Udell, FAT* 2019 (the bias of the weighted one).
[ELZ23] Elzayn, Smith, Hertz et al., Measuring and mitigating racial disparities in tax audits, 2023
        (the bounds by both estimators).
[KMZ22] Kallus, Mao, Zhou, Management Science 68 (2022) (what holds without assumptions).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auditor_client.demographics.probability_columns import Floats, Probabilities
from auditor_client.errors import InputError
from auditor_client.two_party.ratios import Average, GroupDifference

# Beyond this factor, a correction would increase errors more than it reduces bias.
_WORST_CONDITION = 1e3


@dataclass(frozen=True, eq=False)
class Attenuation:
    """Attenuation: `matrix[j, l]` is the share of group l in the weights of group j."""

    groups: tuple[str, ...]
    matrix: Floats

    def left(self, first: str, second: str) -> float:
        """Return the preserved share of a difference between two groups, if all others are equal.

        If the averages of the two groups differ by 1 and the others lie halfway, the weighted
        averages differ by this share.
        """
        a, b = self.groups.index(first), self.groups.index(second)
        truth = np.zeros(len(self.groups))
        truth[a], truth[b] = 0.5, -0.5
        seen = self.matrix @ truth
        return float(seen[a] - seen[b])

    def corrected(self, averages: Sequence[Average], first: str, second: str) -> GroupDifference:
        """Return the difference of two groups under (CI), from weighted averages with limits.

        It is Σ_j c_j μ̂_j; errors of groups may depend on each other in any way, so its half-width
        is at most Σ_j |c_j| times theirs.
        """
        if np.linalg.cond(self.matrix) > _WORST_CONDITION:
            raise InputError(
                "These vectors hardly distinguish the groups, so no correction is "
                "possible. Merge groups (`coarsened`), or use better proxies.",
                case="vectors-too-alike",
            )
        inverse = np.linalg.inv(self.matrix)
        row = inverse[self.groups.index(first)] - inverse[self.groups.index(second)]
        value = float(row @ [each.value for each in averages])
        down = sum(
            abs(c) * ((each.value - each.low) if c > 0 else (each.high - each.value))
            for c, each in zip(row, averages, strict=True)
        )
        up = sum(
            abs(c) * ((each.high - each.value) if c > 0 else (each.value - each.low))
            for c, each in zip(row, averages, strict=True)
        )
        return GroupDifference(first, second, value, value - float(down), value + float(up))


@dataclass(frozen=True)
class Sandwich:
    """A group compared with the rest: both estimates, and the share `left` of a gap with soft
    labels.
    """

    group: str
    weighted: float
    corrected: float
    left: float

    @property
    def low(self) -> float:
        return min(self.weighted, self.corrected)

    @property
    def high(self) -> float:
        return max(self.weighted, self.corrected)


def attenuation(weights: Probabilities, probabilities: Probabilities) -> Attenuation:
    """Return the attenuation of the given weights, from people's calibrated probabilities."""
    w, p = np.asarray(weights), np.asarray(probabilities)
    if w.shape != p.shape or weights.columns != probabilities.columns or not len(w):
        raise InputError(
            "Give weights and probabilities of the same people and groups.", case="other-people"
        )
    totals = w.sum(axis=0)
    if not (totals > 0).all():
        raise InputError(
            "A group without any weight has no average. Leave it out.", case="group-without-weight"
        )
    # A_jl = Σ_i w_ij p_il / Σ_i w_ij
    return Attenuation(weights.columns, np.asarray((w.T @ p) / totals[:, np.newaxis]))


def share_left(probabilities: Probabilities, group: str) -> float:
    """Return λ = var(p) / (p̄(1 - p̄)): 1 for hard labels, 0 if all vectors are equal."""
    p = probabilities[group]
    mean = float(p.mean())
    if not 0 < mean < 1:
        raise InputError(
            f"Everybody or nobody is {group!r}: there is nothing to compare.",
            case="nobody-to-compare",
        )
    return float(p.var() / (mean * (1 - mean)))


def sandwich(probabilities: Probabilities, group: str, inside: float, outside: float) -> Sandwich:
    """Return bounds of a true difference, from the weighted averages of a group and of the rest."""
    left = share_left(probabilities, group)
    if left <= 0:
        raise InputError(
            f"All vectors give {group!r} the same probability: nothing can be told.",
            case="equal-probabilities",
        )
    weighted = inside - outside
    # The corrected difference is the weighted one over λ, as shown above.
    return Sandwich(group, weighted, weighted / left, left)


def frechet(share: Floats, mean: Floats, size: Floats) -> tuple[float, float]:
    """Return assumption-free limits of a group's average, for values in [0, 1].

    In stratum s of the proxies, of `size` people, a `share` is in the group and the average value
    is `mean`. Then max(0, share + mean - 1) <= E[v·1{group} | s] <= min(share, mean), and no
    tighter bound exists. [KMZ22, by Fréchet and Hoeffding]
    """
    total = float(size @ share)
    if not total > 0:
        raise InputError("Nobody is in the group, so it has no average.")
    low = float(size @ np.maximum(share + mean - 1, 0.0)) / total
    return low, float(size @ np.minimum(share, mean)) / total
