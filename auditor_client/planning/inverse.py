"""Inverse planning: results that given people, or a given epsilon, allow.

Each function solves `plan.verdict_size` for another variable. All answers are forecasts of the same
kind: simulated audits of a platform with evenly spread scores.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from auditor_client.fairness.gap import Criterion
from auditor_client.planning.audiences import AudienceSource, planned_audit
from auditor_client.planning.fast_power import estimate_power
from auditor_client.planning.noise import Mechanism
from auditor_client.planning.power_simulation import AuditDesign, SizeKind
from auditor_client.planning.root_finding import deviation, find_least
from auditor_client.planning.sample_size import (
    check_power,
    fast_size,
    make_design,
    unfair_gap,
    verdict_size,
)
from auditor_client.stats.noise import Epsilon, Floats, Gaussian, as_rate, variance

# A gap of 2·alpha must be possible.
_ALPHAS = 0.002, 0.5
# The range 0.002 to 20 of epsilon, and of rho for the same variance: about epsilon²/4.
_EPSILONS = 0.002, 20.0
_RHOS = 1e-6, 100.0
_USUAL = 0.5
_LOOKS = 9


@dataclass(frozen=True, slots=True)
class VerdictForecast:
    """Probability of each verdict."""

    fair: float
    unfair: float

    @property
    def inconclusive(self) -> float:
        return max(1.0 - self.fair - self.unfair, 0.0)


def power_at(
    people: int | Sequence[int],
    true_gap: float,
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    sizes: SizeKind = "known",
    shape: Sequence[float] | None = None,
    *,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
    audience: AudienceSource | None = None,
    criterion: Criterion = "distribution",
) -> VerdictForecast:
    """Forecast the verdict of an audit of `people` per group on a platform with this gap.

    For unequal groups, give the number of each. By four-fifths, a gap of g is a worst ratio of
    1 - g.
    """
    sizes_of_groups = [people] * groups if isinstance(people, int) else list(people)
    _check_people(sizes_of_groups)
    least = min(sizes_of_groups)
    if not 0 <= true_gap <= 1:
        raise ValueError(f"true_gap must lie between 0 and 1, not {true_gap}")
    sizes, noise = planned_audit(audience, sizes, mechanism, epsilon, rho)
    design = make_design(
        alpha, delta, len(sizes_of_groups), bins, noise, sizes, shape, criterion, sizes_of_groups
    )
    return VerdictForecast(
        estimate_power(design, least, true_gap, "fair"),
        estimate_power(design, least, true_gap, "unfair"),
    )


def resolvable_alpha(
    people: int,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    epsilon: Epsilon | None = 1.0,
    power: float = 0.8,
    sizes: SizeKind = "known",
    *,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
    audience: AudienceSource | None = None,
    criterion: Criterion = "distribution",
) -> float:
    """Return the smallest alpha at which gaps of 0 and of 2·alpha get their verdicts with the
    power.
    """
    _check_people([people])
    check_power(power)
    if criterion == "four-fifths":
        raise ValueError("four-fifths has no alpha to solve for: its line is a ratio of 4/5")
    sizes, noise = planned_audit(audience, sizes, mechanism, epsilon, rho)
    design = make_design(0.5, delta, groups, bins, noise, sizes, None, criterion)
    # As `sample_size._guess`, solved for alpha
    guess = 3.6 * math.sqrt(0.5 / people + 2 * variance(design.rate) / people**2)
    found = find_least(lambda a: _reaches(replace(design, alpha=a), people, power), *_ALPHAS, guess)
    if found is None:
        raise ValueError(f"{people} people per group resolve no gap at all. Recruit more people")
    return found


def epsilon_needed(
    people: int,
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    power: float = 0.8,
    sizes: SizeKind = "known",
    *,
    audience: AudienceSource | None = None,
    criterion: Criterion = "distribution",
) -> float:
    """Return the smallest epsilon per bin at which `people` per group reach both verdicts."""
    known, noise = planned_audit(audience, sizes, "discrete-laplace", 1.0, None)
    design = make_design(alpha, delta, groups, bins, noise, known, None, criterion)
    return _needed(design, people, power, _EPSILONS, _USUAL, "epsilon", audience)


def rho_needed(
    people: int,
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    power: float = 0.8,
    sizes: SizeKind = "known",
    *,
    audience: AudienceSource | None = None,
    criterion: Criterion = "distribution",
) -> float:
    """Return the same for Gaussian noise: the smallest rho per bin."""
    known, noise = planned_audit(audience, sizes, "discrete-gaussian", None, 1.0)
    design = make_design(alpha, delta, groups, bins, noise, known, None, criterion)
    return _needed(design, people, power, _RHOS, _USUAL**2 / 4, "rho", audience)


def _needed(
    design: AuditDesign,
    people: int,
    power: float,
    between: tuple[float, float],
    guess: float,
    what: str,
    audience: AudienceSource | None,
) -> float:
    _check_people([people])
    check_power(power)
    found = find_least(
        lambda paid: _reaches(_at(design, paid, audience), people, power), *between, guess
    )
    if found is None:
        needed = fast_size(_at(design, between[1], audience), power, 0.0)
        raise ValueError(
            f"no {what} makes {people} people per group enough: even with next to no noise "
            f"{needed} are needed"
        )
    return found


@dataclass(frozen=True, slots=True)
class Split:
    """Epsilon (or rho) for each content, and the smallest power among them."""

    epsilons: tuple[float, ...]
    power: float


def split_budget(
    budget: Epsilon,
    people: Sequence[int],
    alpha: float = 0.2,
    delta: float = 0.05,
    groups: int = 2,
    bins: int = 20,
    sizes: SizeKind = "known",
    *,
    mechanism: Mechanism = "discrete-laplace",
    audience: AudienceSource | None = None,
) -> Split:
    """Split a budget among contents, or repeats, such that the smallest power is as large as
    possible.

    `people` is the number of people per group of each content; each gets its own verdict. Never
    repeat an audit of the same people only to average: the mean of r releases at epsilon/r has r
    times the variance of one at epsilon. For Gaussian noise the budget is in rho, and repeats cost
    only time: r releases at rho/r are as accurate as one at rho.
    """
    _check_people(people)
    total = as_rate(budget, "budget")
    paid = (None, total) if mechanism == "discrete-gaussian" else (total, None)
    sizes, noise = planned_audit(audience, sizes, mechanism, *paid)
    design = make_design(alpha, delta, groups, bins, noise, sizes)
    parts = np.geomspace(0.02, 1.0, _LOOKS)
    curves = {
        n: np.maximum.accumulate(
            [
                deviation(_least_power(_at(design, float(part * total), audience), n))
                for part in parts
            ]
        )
        for n in set(people)
    }
    shares = _even(np.log(parts), [curves[n] for n in people])
    # Round down, so that the sum never exceeds the budget.
    epsilons = tuple(math.floor(1e6 * total * share) / 1e6 for share in shares)
    powers = [
        _least_power(_at(design, e, audience), n) for e, n in zip(epsilons, people, strict=True)
    ]
    return Split(epsilons, min(powers))


def _even(logs: Floats, curves: Sequence[Floats]) -> Floats:
    """Return the parts of the whole at which all curves have the same, largest possible height."""
    low, high = min(curve[0] for curve in curves), max(curve[-1] for curve in curves)
    for _ in range(50):
        height = (low + high) / 2
        used = sum(math.exp(np.interp(height, _rising(curve), logs)) for curve in curves)
        low, high = (height, high) if used <= 1 else (low, height)
    parts = np.array([math.exp(np.interp(low, _rising(curve), logs)) for curve in curves])
    return np.asarray(parts / parts.sum())


def _rising(curve: Floats) -> Floats:
    return np.asarray(curve + 1e-9 * np.arange(len(curve)))


def after_pilot(
    counts: Mapping[str, Sequence[int]],
    alpha: float = 0.2,
    delta: float = 0.05,
    epsilon: Epsilon | None = 1.0,
    power: float = 0.8,
    sizes: SizeKind = "known",
    *,
    spent: float = 0.0,
    mechanism: Mechanism = "discrete-laplace",
    rho: Epsilon | None = None,
) -> int:
    """Return the people per group for the main study, after a pilot that released these noisy
    counts.

    The pilot shows the distribution of scores; scores in many bins need fewer people than the worst
    case. The main study must have new people and its own verdict, at delta minus the part that the
    pilot's verdict `spent`. Its size depends on the pilot, so the two may not be pooled.
    """
    if not 0 <= spent < delta:
        raise ValueError(
            f"the pilot spent {spent} of delta = {delta}, so nothing is left for the main study"
        )
    shape = pilot_shape(counts)
    return verdict_size(
        alpha,
        delta - spent,
        groups=len(counts),
        bins=len(shape),
        epsilon=epsilon,
        power=power,
        sizes=sizes,
        shape=shape,
        mechanism=mechanism,
        rho=rho,
    )


def pilot_shape(counts: Mapping[str, Sequence[int]]) -> tuple[float, ...]:
    """Return the shares of the bins for all people together that are nearest to the noisy
    counts.
    """
    table = np.asarray([list(row) for row in counts.values()], dtype=np.float64)
    if table.ndim != 2 or table.sum() <= 0:
        raise ValueError("the pilot's counts do not add up to a positive number of people")
    shares = table.sum(axis=0) / table.sum()
    # The projection on the simplex: subtract a constant and clip at zero, so that the sum is one
    ordered = np.sort(shares)[::-1]
    over = (np.cumsum(ordered) - 1) / np.arange(1, len(ordered) + 1)
    cut = over[np.flatnonzero(ordered > over)[-1]]
    found = np.maximum(shares - cut, 0.0)
    return tuple(float(share) for share in found / found.sum())


def _at(design: AuditDesign, paid: float, audience: AudienceSource | None) -> AuditDesign:
    """Return the same audit with the noise that `paid` epsilon, or rho, buys."""
    if isinstance(design.rate, Gaussian):
        _, noise = planned_audit(audience, design.sizes, "discrete-gaussian", None, paid)
    else:
        _, noise = planned_audit(audience, design.sizes, "discrete-laplace", paid, None)
    return replace(design, rate=noise.bins, size_rate=noise.size)


def _reaches(design: AuditDesign, people: int, power: float) -> bool:
    fair = estimate_power(design, people, 0.0, "fair") >= power
    return fair and estimate_power(design, people, unfair_gap(design), "unfair") >= power


def _least_power(design: AuditDesign, people: int) -> float:
    fair = estimate_power(design, people, 0.0, "fair")
    return min(fair, estimate_power(design, people, unfair_gap(design), "unfair"))


def _check_people(people: Sequence[int]) -> None:
    if not people or min(people) < 2:
        raise ValueError(f"every group needs at least two people, not {list(people)}")
