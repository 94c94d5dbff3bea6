"""Power of audits of a given size, by seeded simulation of complete audits.

For verdicts about single bins, the simulated platform is the hardest that we know: its scores are
uniform in three bins. Two bins have more sampling error each but fewer chances to err; many bins
have little error each (numbers: docs/explanation/intervals.md). For verdicts by distribution, its
scores are uniform in all bins; ties at few scores are harder (docs/explanation/planning.md). A gap
g moves that share of one group to the first bin and of all others to the second. Seeds are fixed,
so the same call has the same result.

`fast_power` gives a faster approximation; this module checks it.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness import gap_bounds, thresholds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import BINS_PART, Criterion, gap_of
from auditor_client.fairness.worst_impact import LEAST_SHARE
from auditor_client.stats import noise
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import AnyNoise, Noise, NoNoise

SizeKind = Literal["known", "noisy", "estimated"]
Outcome = Literal["fair", "unfair"]
RUNS = 100
_FILLED = 3


@dataclass(frozen=True, slots=True)
class AuditDesign:
    """Design of a simulated audit, without its number of people.

    `rate` is the noise of each count and `size_rate` that of a bought size: a distribution, or the
    rate of discrete Laplace noise. The noises of `releases` pooled releases add up. `shape` holds
    the shares of all people together, if known (default: an even spread). `criterion` defines
    what the verdict covers: single bins, or thresholds too. `ratios` are the sizes of the groups
    relative to the smallest (default: equal groups).

    By four-fifths, the platform has exactly `least_share` above one edge, and a gap of g is a ratio
    of 1 - g there: the first group has less.
    """

    alpha: float
    delta: float
    groups: int
    bins: int
    rate: AnyNoise
    sizes: SizeKind
    size_rate: AnyNoise
    releases: int = 1
    shape: tuple[float, ...] | None = None
    criterion: Criterion = "bins"
    ratios: tuple[float, ...] = ()
    least_share: float = LEAST_SHARE

    def sizes_of_groups(self, people: int) -> NDArray[np.int64]:
        """Return the number of people of each group if the smallest has `people`."""
        ratios = np.asarray(self.ratios or (1.0,) * self.groups)
        return np.ceil(people * ratios - 1e-9).astype(np.int64)

    @property
    def pairs(self) -> int:
        return self.groups * (self.groups - 1) // 2

    @property
    def exact(self) -> bool:
        """Whether sizes are known; without noise they are the sums of the bins."""
        return self.sizes == "known" or isinstance(noise.distribution(self.rate), NoNoise)

    @property
    def distribution(self) -> Noise:
        """The noise of a count."""
        return noise.sum_of_draws(self.rate, self.releases)

    @property
    def size_distribution(self) -> Noise:
        """The noise of a bought size."""
        return noise.sum_of_draws(self.size_rate, self.releases)

    def shares(self, gap: float) -> NDArray[np.float64]:
        """Return one row of shares per group, with a fairness gap of exactly `gap`."""
        if self.criterion == "four-fifths":
            return self._shares_above_one_edge(gap)
        filled = self.bins if self.criterion == "distribution" else min(_FILLED, self.bins)
        shape = np.repeat([1 / filled, 0.0], [filled, self.bins - filled])
        if self.shape is not None:
            shape = np.asarray(self.shape)
        one, other = np.argsort(-shape, kind="stable")[[0, 1 % self.bins]]
        base = np.tile((1 - gap) * shape, (self.groups, 1))
        base[0, one] += gap
        base[1:, other] += gap
        return base

    @property
    def top_bins(self) -> int:
        """The number of bins above the edge where the impact ratio is judged."""
        return max(min(round(self.least_share * self.bins), self.bins - 1), 1)

    def _shares_above_one_edge(self, gap: float) -> NDArray[np.float64]:
        above, below = self.top_bins, self.bins - self.top_bins
        shares = np.full(self.groups, self.least_share)
        shares[0] *= 1 - gap
        return np.vstack(
            [
                np.repeat([(1 - share) / max(below, 1), share / above], [below, above])
                for share in shares
            ]
        )


@lru_cache(maxsize=512)
def reaches_power(
    design: AuditDesign, people: int, gap: float, verdict: Outcome, power: float
) -> bool:
    """Tell whether at least the share `power` of simulated audits ends in the verdict."""
    failures = 0
    for seed in range(RUNS):
        failures += not has_verdict(design, simulate_release(design, people, gap, seed), verdict)
        if failures > RUNS * (1 - power):
            return False
    return True


def has_verdict(design: AuditDesign, groups: list[GroupCounts], verdict: Outcome) -> bool:
    """Tell whether these groups' release gives the verdict of `gap.FairnessGap`."""
    alone, alpha = gap_bounds.one_sided_delta(design.delta), design.alpha
    if design.criterion == "four-fifths":
        named = {str(number): group for number, group in enumerate(groups)}
        found = gap_of(named, design.delta, "four-fifths", least_share=design.least_share)
        return found.verdict(alpha) == verdict
    if design.criterion == "bins":
        ask = gap_bounds.certify_within if verdict == "fair" else gap_bounds.certify_beyond
        return ask(groups, alone, alpha)
    if verdict == "fair":
        return gap_bounds.certify_within(groups, alone, alpha) and thresholds.certify_within(
            groups, alone, alpha
        )
    return gap_bounds.certify_beyond(groups, alone * BINS_PART, alpha) or thresholds.certify_beyond(
        groups, alone * (1 - BINS_PART), alpha
    )


def simulate_release(design: AuditDesign, people: int, gap: float, seed: int) -> list[GroupCounts]:
    """Return the release of one simulated audit."""
    generator = np.random.default_rng((seed, people))
    groups = []
    for shares, size in zip(design.shares(gap), design.sizes_of_groups(people), strict=True):
        own = int(size)
        counts = generator.multinomial(own, shares)
        counts = counts + design.distribution.simulated(generator, design.bins)
        noisy = None
        if design.sizes == "noisy" and not design.exact:
            noisy = own + int(design.size_distribution.simulated(generator, 1)[0])
        table = tuple(int(count) for count in counts)
        known = own if design.exact else None
        estimate = GroupSizeEstimate(
            sum(table), len(table), design.distribution, known, noisy, design.size_distribution
        )
        groups.append(GroupCounts(table, estimate, design.distribution))
    return groups


def discrete_laplace(generator: np.random.Generator, rate: float, count: int) -> NDArray[np.int64]:
    """Draw simulated noise, never for release: the difference of two geometric variables."""
    return noise.distribution(rate).simulated(generator, count)
