"""Limits by repetition, for comparison: bootstrap (Algorithm 4, BCa) and partitions (Algorithm 3).

Rows of a traffic differ only in their group and label, so resampling rows is resampling counts: a
multinomial draw for the bootstrap, a multivariate hypergeometric one for a partition. None of these
is valid near zero, where the penalty of a resample is biased upwards, nor if viewers have many
rows.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, Appendix G and §4.3.
[Efr87]  Efron, Better bootstrap confidence intervals, JASA 82, 1987, §§ 2 and 7 (BCa).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from auditor_client.errors import InputError
from auditor_client.reo.confidence_box import relative_spread
from auditor_client.reo.counts import PositiveCounts, Positives, align_groups, check_counts
from auditor_client.reo.penalty_estimate import check_delta
from auditor_client.reo.utilities import Utilities, slopes
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats

Method = Literal["standard", "bca"]


@dataclass(frozen=True)
class Resampled:
    """Estimate with limits from repetitions; `bias` is their mean minus the estimate."""

    value: float
    se: float
    low: float
    high: float
    bias: float


def bootstrap(
    recommended: Positives,
    random: Positives,
    n_recommended: int,
    n_random: int,
    delta: float = 0.05,
    repetitions: int = 100,
    method: Method = "standard",
    seed: int = 0,
) -> Resampled:
    """Return the penalty with bootstrap limits: normal ones, or corrected for bias and skewness
    (BCa).
    """
    shown, probed = _checked([recommended, random], [n_recommended, n_random], delta)
    generator = np.random.default_rng(seed)
    found = relative_spread(
        _resampled(shown, repetitions, generator) / _resampled(probed, repetitions, generator)
    )
    value = float(relative_spread(shown.positives / probed.positives))
    if method == "bca":
        low, high = _bca(found, value, _acceleration(shown, probed), delta)
        return Resampled(value, float(found.std(ddof=1)), low, high, float(found.mean()) - value)
    return _normal(found, value, delta)


def bootstrap_difference(
    treatment: Positives,
    control: Positives,
    random: Positives,
    n_treatment: int,
    n_control: int,
    n_random: int,
    delta: float = 0.05,
    repetitions: int = 100,
    seed: int = 0,
) -> Resampled:
    """Return the change of the penalty by Algorithm 4; random traffic is resampled once for
    both.
    """
    traffics = _checked([treatment, control, random], [n_treatment, n_control, n_random], delta)
    generator = np.random.default_rng(seed)
    one, other, probed = (_resampled(counts, repetitions, generator) for counts in traffics)
    first, second, below = (counts.positives for counts in traffics)
    value = float(relative_spread(first / below) - relative_spread(second / below))
    return _normal(relative_spread(one / probed) - relative_spread(other / probed), value, delta)


def partitions(
    treatment: Positives,
    control: Positives,
    random: Positives,
    n_treatment: int,
    n_control: int,
    n_random: int,
    delta: float = 0.05,
    folds: tuple[int, int] = (20, 20),
    seed: int = 0,
) -> Resampled:
    """Return the comparison by Algorithm 3: Welch's t-test on penalties of disjoint parts of the
    rows.
    """
    traffics = _checked([treatment, control, random], [n_treatment, n_control, n_random], delta)
    if min(folds) < 2:
        raise InputError("A partition has at least two folds.", case="few-folds")
    generator = np.random.default_rng(seed)
    found = []
    for counts, many in zip(traffics[:2], folds, strict=True):
        above, below = _parts(counts, many, generator), _parts(traffics[2], many, generator)
        if not below.all():
            raise InputError(
                "Some part has a group without positives: use fewer folds.",
                case="group-without-positives",
            )
        found.append(relative_spread(above / below))
    return _welch(found, traffics, delta)


def _welch(found: Sequence[Floats], traffics: Sequence[PositiveCounts], delta: float) -> Resampled:
    value = float(found[0].mean() - found[1].mean())
    shares = [float(part.var(ddof=1)) / len(part) for part in found]
    se = math.sqrt(sum(shares))
    # ν = (s_T²/M_T + s_C²/M_C)² / (s_T⁴/(M_T²(M_T - 1)) + …)   [DJHL25, G.1]
    below = sum(share**2 / (len(part) - 1) for share, part in zip(shares, found, strict=True))
    degrees = math.floor(se**4 / below)
    t = float(special.stdtrit(degrees, 1 - delta / 2))
    first, second, random = (counts.positives for counts in traffics)
    whole = float(relative_spread(first / random) - relative_spread(second / random))
    return Resampled(value, se, value - t * se, value + t * se, value - whole)


def _checked(
    traffics: Sequence[Positives], rows: Sequence[int], delta: float
) -> list[PositiveCounts]:
    check_delta(delta)
    found = [
        check_counts(one, n, None, f"traffic {number + 1}")
        for number, (one, n) in enumerate(zip(traffics, rows, strict=True))
    ]
    return [found[0], *(align_groups(found[0], one) for one in found[1:])]


def _cells(counts: PositiveCounts) -> tuple[int, Floats]:
    """Return the number of rows, and the counts, the last of which is of rows outside all
    positives.
    """
    rows = int(counts.rows or 0)
    return rows, np.append(counts.positives, rows - counts.positives.sum())


def _resampled(counts: PositiveCounts, repetitions: int, generator: np.random.Generator) -> Floats:
    rows, cells = _cells(counts)
    return generator.multinomial(rows, cells / rows, repetitions)[:, :-1] / rows


def _parts(counts: PositiveCounts, folds: int, generator: np.random.Generator) -> Floats:
    """Return shares of positives in disjoint parts of equal size, up to one row."""
    rows, cells = _cells(counts)
    left, parts = cells.astype(np.int64), []
    for fold in range(folds):
        size = rows * (fold + 1) // folds - rows * fold // folds
        drawn = generator.multivariate_hypergeometric(left, size, method="marginals")
        left = left - drawn
        parts.append(drawn[:-1] / size)
    return np.asarray(parts)


def _normal(found: Floats, value: float, delta: float) -> Resampled:
    se, z = float(found.std(ddof=1)), quantile(delta / 2)
    # D ± z(δ/2) std(D(·))   [DJHL25, eq. 23]
    return Resampled(value, se, value - z * se, value + z * se, float(found.mean()) - value)


def _bca(found: Floats, value: float, acceleration: float, delta: float) -> tuple[float, float]:
    # The centre is Φ⁻¹ of the share of repetitions below the estimate; limits are their quantiles
    # at Φ(centre + e/(1 - a·e)), e = centre + z   [Efr87]
    below = (np.sum(found < value) + 0.5 * np.sum(found == value)) / len(found)
    centre = float(special.ndtri(np.clip(below, 0.5 / len(found), 1 - 0.5 / len(found))))
    ends = centre + special.ndtri(np.asarray([delta / 2, 1 - delta / 2]))
    levels = special.ndtr(centre + ends / (1 - acceleration * ends))
    low, high = np.quantile(found, levels)
    return float(low), float(high)


def _acceleration(shown: PositiveCounts, probed: PositiveCounts) -> float:
    """Σ l³ / (6 (Σ l²)^{3/2}) over all rows, l what one row more does to the penalty   [Efr87]."""
    u, by_shown, by_random = slopes(shown, probed)
    made = Utilities(shown.groups, u, by_shown, by_random)
    if made.penalty == 0:
        return 0.0
    gradient = made.direction() @ made.jacobian
    cubes = squares = 0.0
    for counts, by in ((shown, by_shown), (probed, by_random)):
        rows, cells = _cells(counts)
        slope = np.append(gradient @ by, 0.0)
        influence = slope - float(slope @ cells) / rows
        cubes += float(cells @ influence**3)
        squares += float(cells @ influence**2)
    return float(cubes / (6 * squares**1.5))
