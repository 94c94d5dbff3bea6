"""Effects: differences of two groups' outcomes at equal scores, the paper's β̂ of (1) and (2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from auditor_client.outcome import sandwich_variance as filling
from auditor_client.outcome.bin_sums import BinSums, bin_sums
from auditor_client.outcome.error_quantiles import p_value, two_sided_quantile
from auditor_client.outcome.marginals import freedom, mean_limits
from auditor_client.outcome.regression import Control, Fit, fit
from auditor_client.outcome.sandwich_variance import Variance
from auditor_client.stats.noise_distributions import Floats
from auditor_client.stats.outcome_moments import OutcomeMoments

# Smallest number of rows of a group for which a bin has an estimate.
LEAST_ROWS = 10
# Largest share of noise in the equations, and of its second order in a variance.
_MOST_FRAILTY = 0.3
_MOST_SECOND_ORDER = 0.5
# The second order is not normal; three times its variance is on the safe side.
_SECOND_ORDER = 3.0


@dataclass(frozen=True)
class Effect:
    """Difference of outcomes at equal scores in this bin: `group` minus `relative_to`.

    `low` and `high` hold for this effect alone. `low_all`, `high_all` and `adjusted`, Holm's
    p-value, hold for all effects that are tested at once. If nothing can be estimated, `why` gives
    the reason, the estimate is NaN, and the limits follow from the groups' average outcomes,
    without control for the score. These limits hold for this effect alone, in both pairs of fields.
    """

    bin: int
    group: str
    relative_to: str
    estimate: float
    se: float
    low: float
    high: float
    p_value: float
    why: str = ""
    low_all: float = np.nan
    high_all: float = np.nan
    adjusted: float = np.nan
    freedom: float = np.inf
    kurtosis: float = 0.0

    @property
    def defined(self) -> bool:
        return not self.why

    @property
    def off_support(self) -> bool:
        """Whether one of the groups has almost nobody here, so that no comparison is possible."""
        return self.why == OFF_SUPPORT


OFF_SUPPORT = "one of the groups has almost nobody in this bin"
FEW = "too few people, given the noise"
DROWNED = "scores vary too little in this bin, given the noise, to control for them"


@dataclass(frozen=True, eq=False)
class Joint:
    """Joint effects of all groups relative to the first, in one bin.

    `noisy` has the weight of each noisy number in them, one column each. `fourth` has the fourth
    cumulants of these noises. `influence` is the effect of the sums of a person's rows, if known.
    """

    bin: int
    estimates: Floats
    covariance: Floats
    noisy: Floats
    fourth: Floats
    influence: Floats | None


@dataclass(frozen=True)
class EffectQuestion:
    control: Control
    variance: Variance
    delta: float
    binary: bool


def bin_effects(
    moments: OutcomeMoments, number: int, order: Sequence[int], question: EffectQuestion
) -> tuple[list[Effect], Joint | None]:
    """Return the effect of every pair of groups, and the joint effects if all are defined."""
    sums = bin_sums(moments, number, question.binary)
    able = [group for group in order if not _missing(sums, (group, group))]
    fitted = _fitted(sums, able, question)
    half = moments.outcome_scale
    effects = []
    for pair in combinations(order, 2):
        other, group = pair
        names = (number, moments.groups[group], moments.groups[other])
        why = _missing(sums, pair)
        if why or fitted is None:
            effects.append(_undefined(names, sums, pair, question, half, why or DROWNED))
        else:
            pair_indices = (able.index(group), able.index(other))
            effects.append(_effect(names, fitted, pair_indices, question, half))
    whole = fitted is not None and len(able) == len(order)
    return effects, _joint(number, fitted, question) if whole and fitted is not None else None


def _fitted(sums: BinSums, able: list[int], question: EffectQuestion) -> "_Fitted | None":
    """Return the regression of the groups present, or None if noise is too large for one."""
    found = fit(sums.only(able), question.control) if len(able) > 1 else None
    if found is None or found.frailty > _MOST_FRAILTY:
        return None
    more = _second_order(found)
    return _Fitted(found, 1 + _SECOND_ORDER * more) if more <= _MOST_SECOND_ORDER else None


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Regression, and the factor by which the second order of noise widens its variances."""

    fit: Fit
    factor: float

    def covariance(self, contrasts: Floats, question: EffectQuestion) -> tuple[Floats, Floats]:
        """Return contrasts' covariance (sampling and noise), and the weight of each noisy
        column.
        """
        sampling = filling.sampling(self.fit, question.variance, contrasts)
        noise, entering = filling.noise(self.fit, contrasts)
        return (sampling + noise) * self.factor, entering


def _missing(sums: BinSums, pair: tuple[int, int]) -> str:
    deviation = float(np.sqrt(sums.variance[0]))
    for group in pair:
        rows = float(sums.rows[group])
        if rows + filling.UPPER * deviation < LEAST_ROWS:
            return OFF_SUPPORT
        if rows - filling.UPPER * deviation < LEAST_ROWS:
            return FEW
    return ""


def _second_order(found: Fit) -> float:
    """Return the largest relative variance of the second order of noise among the effects."""
    if found.sums.exact:
        return 0.0
    everything = np.eye(len(found.theta))
    covariance = filling.sampling(found, "classical", everything)
    covariance = covariance + filling.noise(found, everything)[0]
    most = 0.0
    for group, other in combinations(range(len(found.indices)), 2):
        contrast = found.contrast(group, other)
        more = found.second_order(found.inverse @ contrast, covariance)
        most = max(most, more / float(contrast @ covariance @ contrast))
    return most


def _effect(
    names: tuple[int, str, str],
    fitted: _Fitted,
    pair_indices: tuple[int, int],
    question: EffectQuestion,
    half: float,
) -> Effect:
    found = fitted.fit
    contrast = found.contrast(*pair_indices)
    covariance, entering = fitted.covariance(contrast[:, np.newaxis], question)
    se = float(np.sqrt(covariance[0, 0]))
    fourth = float(entering[0] ** 4 @ np.tile(found.sums.fourth, len(found.indices)))
    kurtosis = fourth / se**4 if se else 0.0
    free = min(freedom(found.sums, index) for index in pair_indices)
    estimate = float(contrast @ found.theta)
    width = two_sided_quantile(question.delta, free, kurtosis) * se
    return Effect(
        *names,
        estimate=estimate * half,
        se=se * half,
        low=(estimate - width) * half,
        high=(estimate + width) * half,
        p_value=p_value(estimate / se, free, kurtosis) if se else float(estimate == 0),
        freedom=free,
        kurtosis=kurtosis,
    )


def _undefined(
    names: tuple[int, str, str],
    sums: BinSums,
    pair: tuple[int, int],
    question: EffectQuestion,
    half: float,
    reason: str,
) -> Effect:
    """Return an undefined effect; its limits give half of delta to each group's average."""
    other, group = (mean_limits(sums, each, question.binary, question.delta / 2) for each in pair)
    low, high = (group[0] - other[1]) * half, (group[1] - other[0]) * half
    return Effect(*names, np.nan, np.nan, low, high, 1.0, reason, low, high, 1.0)


def _joint(number: int, fitted: _Fitted, question: EffectQuestion) -> Joint:
    found = fitted.fit
    count = len(found.indices)
    contrasts = np.stack([found.contrast(group, 0) for group in range(1, count)], axis=1)
    covariance, entering = fitted.covariance(contrasts, question)
    robust = question.variance in ("guarded", "cluster") and found.degree < 2
    clustered = robust and found.sums.products is not None
    influence = contrasts.T @ found.inverse @ filling.personal(found) if clustered else None
    fourth = np.tile(found.sums.fourth, count)
    return Joint(number, contrasts.T @ found.theta, covariance, entering, fourth, influence)
