"""Averages of soft groups from noisy sums, with limits that include sampling error and noise.

A group's average is θ = X/D, X = Σ w·x over rows with weights 0 <= w <= 1 and values l <= x <= h,
D = Σ w. Only sums are released, so the sampling variance of X - θD is *bounded*:

    Σ_person (Σ_row w(x - θ))² <= m Σ w²(x - θ)² <= m Σ w(x - θ)² <= m·D·(h - θ)(θ - l)

for m rows per person [Cauchy, Schwarz], because w² <= w, and because a distribution on [l, h] with
mean θ has at most that variance [Bhatia, Davis, American Mathematical Monthly 107 (2000)]. The
bound also holds for rows of several people, for example of lists that share some, if each depends
on at most m - 1 others. If Σ w·x² was released too, it replaces the last step. The limits are all θ
for which X - θD is not further from zero than q times the root of (bound + noise variance at θ):
Wilson's interval without noise and with hard labels, Fieller's with noise in both sums.

Two groups share people, each in part. With φ_g = w_g(x - θ_g)/D_g the variance of a difference is
Σ(φ_a - φ_b)² = Σφ_a² + Σφ_b² - 2Σφ_aφ_b, and φ_aφ_b < 0 only if x lies between the averages, where
(x - θ_a)(x - θ_b) >= -(θ_a - θ_b)²/4. So it is at most the sum of both variances, plus m(θ_a -
θ_b)²/(2·max(D_a, D_b)), which is zero if x is always l or h. Limits of differences follow from each
group's own [Zou, Donner, Statistics in Medicine 27 (2008): MOVER].

Weights of inverted self-reports may be negative, and w² may exceed w. Then, with Σw² over all
uploaded people,

    Σ_person w²(Σ_row (x - θ))² <= m² Σw² · max((h - θ)², (θ - l)²) <= m² Σw² ((h - θ)² + (θ - l)²)

and errors of two groups may depend on each other in any way: half-widths add up.
"""

import math
from dataclasses import dataclass

import numpy as np

from auditor_client.errors import InputError
from auditor_client.stats.critical_values import quantile
from auditor_client.stats.noise_distributions import Floats

UPPER = 1.645


@dataclass(frozen=True, slots=True)
class Average:
    """Average of a group with limits; `people` is the noisy sum of its weights.

    It is NaN if noise leaves nobody to divide by; the limits are then those of the range.
    """

    group: str
    people: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Average of one group minus that of another."""

    first: str
    second: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Ratios:
    """Numerator and denominator sums of each group, and the known properties of their errors.

    `low` and `high` bound the values; `two_valued` states that no value lies in between; `rows` is
    m; `squares` is Σ w·x² if known; `weight_squares` is Σw² if weights may be negative. Noise has
    the variances `noise_above` and `noise_below`; with `shared`, the denominator includes the
    numerator and `noise_below` is that of the rest.
    """

    groups: tuple[str, ...]
    above: Floats
    below: Floats
    low: float = 0.0
    high: float = 1.0
    rows: int = 1
    noise_above: float = 0.0
    noise_below: float = 0.0
    shared: bool = False
    two_valued: bool = False
    squares: Floats | None = None
    weight_squares: Floats | None = None

    def __post_init__(self) -> None:
        if not len(self.groups) == len(self.above) == len(self.below):
            raise InputError(
                "Averages need a numerator and a denominator for each group.", case="sums-per-group"
            )

    @property
    def together(self) -> "Ratios":
        """All people as one group: the sums of all groups, whose weights add up to one."""
        many = len(self.groups)
        return Ratios(
            groups=("overall",),
            above=self.above.sum(keepdims=True),
            below=self.below.sum(keepdims=True),
            low=self.low,
            high=self.high,
            rows=self.rows,
            noise_above=many * self.noise_above,
            noise_below=many * self.noise_below,
            shared=self.shared,
            two_valued=self.two_valued,
            squares=None if self.squares is None else self.squares.sum(keepdims=True),
            weight_squares=self._everybody,
        )

    @property
    def _everybody(self) -> Floats | None:
        """Σw² of all groups as one: (Σ_g w_g)² is at most the number of groups times Σ_g w_g²."""
        if self.weight_squares is None:
            return None
        return np.asarray(len(self.groups) * self.weight_squares.sum(keepdims=True))

    def averages(self, delta: float) -> list[Average]:
        """Return the average of each group, within its own limits with probability 1 - delta."""
        return [self.average(number, delta) for number in range(len(self.groups))]

    def average(self, number: int, delta: float) -> Average:
        """Return the average of one group."""
        x, d = float(self.above[number]), float(self.below[number])
        value = float(np.clip(x / d, self.low, self.high)) if d > 0 else math.nan
        low, high = self._limits(number, delta)
        return Average(self.groups[number], d, value, low, high)

    def difference(self, first: int, second: int, delta: float) -> GroupDifference:
        """Return limits that hold with probability 1 - delta."""
        return difference(self.average(first, delta), self.average(second, delta), self, delta)

    def _limits(self, number: int, delta: float) -> tuple[float, float]:
        # (X - θD)² <= q²(S(θ) + σ_X²(1 - sθ)² + θ²σ_D²), all of them quadratic in θ
        x, d = float(self.above[number]), float(self.below[number])
        sampling, noise = self._sampling(number), self._noise
        guess = float(np.clip(x / d, self.low, self.high)) if d > 0 else self.high
        heavy = _at(noise, guess) / max(_at(noise, guess) + _at(sampling, guess), 1e-300)
        q2 = quantile(delta / 2, round(min(heavy, 1.0), 4)) ** 2
        fit = np.array([d**2, -2 * x * d, x**2])
        return _hull(fit - q2 * (sampling + noise), self.low, self.high)

    def _sampling(self, number: int) -> Floats:
        """Coefficients of the bound S(θ), of θ², θ and 1."""
        if self.weight_squares is not None:
            # (h - θ)² + (θ - l)² = 2θ² - 2(h + l)θ + h² + l²
            ends = self.high + self.low, self.high**2 + self.low**2
            most = self.rows**2 * float(self.weight_squares[number])
            return most * np.array([2.0, -2 * ends[0], ends[1]])
        x = float(self.above[number])
        d = max(float(self.below[number]), 0.0) + UPPER * math.sqrt(self.noise_below)
        if self.squares is not None:
            xx = max(float(self.squares[number]), 0.0) + UPPER * math.sqrt(self.noise_above)
            return self.rows * np.array([d, -2 * x, xx])
        # D(h - θ)(θ - l) = D(-θ² + (h + l)θ - hl)
        return self.rows * d * np.array([-1.0, self.high + self.low, -self.high * self.low])

    @property
    def _noise(self) -> Floats:
        s = float(self.shared)
        above, below = self.noise_above, self.noise_below
        return np.array([s * above + below, -2 * s * above, above])


def difference(one: Average, other: Average, ratios: Ratios, delta: float) -> GroupDifference:
    """Return one average minus another, from their own limits (MOVER) and a bound of shared
    people.
    """
    value = one.value - other.value
    if ratios.weight_squares is not None or not math.isfinite(value):
        return GroupDifference(
            one.group, other.group, value, one.low - other.high, one.high - other.low
        )
    between = 0.0 if ratios.two_valued else value**2
    # q² · m(θ_a - θ_b)² / (2 max(D_a, D_b))
    shared = (
        quantile(delta / 2) ** 2 * ratios.rows * between / (2 * max(one.people, other.people, 1.0))
    )
    down = math.sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2 + shared)
    up = math.sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2 + shared)
    span = ratios.high - ratios.low
    low, high = max(value - down, -span), min(value + up, span)
    return GroupDifference(one.group, other.group, value, low, high)


def _at(coefficients: Floats, theta: float) -> float:
    return max(float(np.polyval(coefficients, theta)), 0.0)


def _hull(coefficients: Floats, low: float, high: float) -> tuple[float, float]:
    """Return the smallest interval around all θ in [low, high] at which the quadratic is not
    positive.
    """
    roots = np.roots(coefficients)
    inside = [
        float(root.real)
        for root in roots
        if abs(root.imag) <= 1e-9 * (1 + abs(root)) and low <= root.real <= high
    ]
    ends = [end for end in (low, high) if np.polyval(coefficients, end) <= 0]
    found = inside + ends
    return (min(found), max(found)) if found else (low, high)
