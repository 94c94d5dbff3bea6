"""`python -m validation.planned_power [runs]`: share of audits that end in the planned verdict.

`verdict_size` forecasts the people at which a fair platform is called fair, and one with twice the
tolerated gap unfair, each in 80 % of audits. Here as many people are audited on simulated
platforms, and the analysis of a real release decides. No code of the forecast takes part.

The planner was tuned on `even`: scores spread evenly over all bins, and the gap moves people from
the second bin to the first. The other worlds were not used for tuning. For four-fifths, one edge
has the least share that counts above it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auditor_client.fairness import gap_bounds, thresholds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import BINS_PART, TOP_SHARE, Criterion, measured_groups
from auditor_client.fairness.gap_bounds import one_sided_delta
from auditor_client.fairness.worst_impact import FOUR_FIFTHS, LEAST_SHARE, worst_impact
from auditor_client.plan import verdict_size
from auditor_client.planning.audiences import AudienceSource
from auditor_client.stats.noise import distribution

ALPHA, DELTA, POWER = 0.2, 0.05, 0.8
RUNS = 200

Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """One planned audit: where its people come from, its noise, bins and groups."""

    audience: AudienceSource
    epsilon: float
    bins: int = 12
    groups: int = 2
    alpha: float = ALPHA
    criterion: Criterion = "distribution"
    ratios: tuple[int, ...] = ()

    def people(self) -> int:
        return verdict_size(
            self.alpha, DELTA, self.groups, self.bins, self.epsilon, POWER,
            audience=self.audience, criterion=self.criterion, ratios=self.ratios or None,
        )  # fmt: skip


def plans() -> Iterator[Plan]:
    """Yield the plans of the table."""
    for epsilon in (0.25, 1.0, 2.0):
        yield Plan("upload", epsilon)
    yield Plan("upload", 1.0, bins=60)
    yield Plan("upload", 1.0, groups=5)
    yield Plan("upload", 1.0, ratios=(1, 5))
    yield Plan("upload", 1.0, criterion="four-fifths")
    yield Plan("confirmed", 1.0)
    yield Plan("confirmed", 1.0, alpha=0.1)
    yield Plan("confirmed", 1.0, groups=5)
    yield Plan("confirmed", 1.0, ratios=(1, 5))
    yield Plan("confirmed", 1.0, criterion="bins")
    yield Plan("confirmed", 1.0, groups=4, criterion="four-fifths")
    yield Plan("sample", 0.25)
    yield Plan("sample", 1.0)


def even(bins: int, gap: float) -> tuple[Shares, Shares]:
    """Return shares of the first group and of all others: spread evenly, the gap in two bins."""
    base = np.full(bins, (1 - gap) / bins)
    one, other = base.copy(), base.copy()
    one[0] += gap
    other[1] += gap
    return one, other


def smooth(bins: int, gap: float) -> tuple[Shares, Shares]:
    """Return shares of a smooth bias: the first group has more people in every upper bin."""
    middle = (np.arange(bins) + 0.5) / bins
    tilt = np.cos(np.pi * middle)
    # The two distributions differ most at the middle edge, by exactly the gap.
    size = gap / (2 * np.abs(tilt[: bins // 2].sum()))
    return 1 / bins - size * tilt, 1 / bins + size * tilt


def ties(bins: int, gap: float) -> tuple[Shares, Shares]:
    """Return shares of scores in three bins at the ends and the middle, moved from end to end."""
    base = np.zeros(bins)
    base[[0, bins // 2, bins - 1]] = 0.5 - gap / 2, 0.4 - gap / 2, 0.1
    one, other = base.copy(), base.copy()
    one[bins // 2] += gap
    other[0] += gap
    return one, other


WORLDS = {"even": even, "smooth": smooth, "ties": ties}


def at_one_edge(bins: int, ratio: float) -> tuple[Shares, Shares]:
    """Return shares with the least share that counts above one edge, and `ratio` times it."""
    top = max(round(LEAST_SHARE * bins), 1)

    def spread(share: float) -> Shares:
        return np.repeat([(1 - share) / (bins - top), share / top], [bins - top, top])

    return spread(LEAST_SHARE * ratio), spread(LEAST_SHARE)


def share_of(
    plan: Plan, rows: Sequence[Shares], people: int, verdict: str, runs: int, seed: int
) -> float:
    """Return the share of audits that end in the verdict."""
    found = 0
    for run in range(runs):
        found += _audit(plan, rows, people, np.random.default_rng((seed, run))) == verdict
    return found / runs


def _audit(plan: Plan, rows: Sequence[Shares], people: int, generator: np.random.Generator) -> str:
    # One person displaces another in a sample of exact size: the noise doubles.
    rate = plan.epsilon / (2 if plan.audience == "sample" else 1)
    own = plan.epsilon / 4
    counts, sizes = {}, {}
    ratios = plan.ratios or (1,) * plan.groups
    for number, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        noise = distribution(rate).simulated(generator, plan.bins)
        counts[f"g{number}"] = [int(c) for c in generator.multinomial(people * ratio, row) + noise]
        bought = int(distribution(own).simulated(generator, 1)[0])
        sizes[f"g{number}"] = people * ratio + (bought if plan.audience == "upload" else 0)
    private = plan.audience == "upload"
    groups = measured_groups(
        counts,
        distribution(rate),
        {} if private else sizes,
        sizes if private else {},
        distribution(own),
    )
    return _verdict(plan, groups)


def _verdict(plan: Plan, groups: Mapping[str, GroupCounts]) -> str:
    """Return the verdict of `FairnessGap.verdict`, without searching for its limits."""
    if plan.criterion == "four-fifths":
        said = worst_impact(groups, DELTA).four_fifths()
        return {"passes": "fair", "fails": "unfair"}.get(said, said)
    known, alone, alpha = list(groups.values()), one_sided_delta(DELTA), plan.alpha
    if plan.criterion == "bins":
        if gap_bounds.certify_beyond(known, alone, alpha):
            return "unfair"
        return "fair" if gap_bounds.certify_within(known, alone, alpha) else "inconclusive"
    if gap_bounds.certify_beyond(known, alone * BINS_PART, alpha) or thresholds.certify_beyond(
        known, alone * (1 - BINS_PART), alpha
    ):
        return "unfair"
    fair = (
        gap_bounds.certify_within(known, alone, alpha)
        and thresholds.certify_within(known, alone, alpha)
        and thresholds.top_share_limit(known, DELTA, outside=False) <= TOP_SHARE
    )
    return "fair" if fair else "inconclusive"


def measure(plan: Plan, runs: int, seed: int) -> Iterator[tuple[str, int, float, float]]:
    """Yield each world, the people, and the shares of `fair` and `unfair` verdicts."""
    people = plan.people()
    if plan.criterion == "four-fifths":
        worlds = {"one edge": [at_one_edge(plan.bins, r) for r in (1.0, FOUR_FIFTHS**2)]}
    else:
        worlds = {
            name: [world(plan.bins, gap) for gap in (0.0, 2 * plan.alpha)]
            for name, world in WORLDS.items()
            if plan.criterion == "distribution" or name != "smooth"
        }
    for name, (fair, unfair) in worlds.items():
        shares = [
            share_of(plan, [one, *[other] * (plan.groups - 1)], people, verdict, runs, seed)
            for verdict, (one, other) in (("fair", fair), ("unfair", unfair))
        ]
        yield name, people, shares[0], shares[1]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(" audience   eps bins groups alpha     criterion     world people   fair unfair")
    worst = 1.0
    for seed, plan in enumerate(plans()):
        for world, people, fair, unfair in measure(plan, runs, seed):
            worst = min(worst, fair, unfair)
            print(
                f"{plan.audience:>9} {plan.epsilon:>5} {plan.bins:>4} {plan.groups:>6} "
                f"{plan.alpha:>5} {plan.criterion:>13} {world:>9} {people:>6} "
                f"{fair:>6.3f} {unfair:>6.3f}",
                flush=True,
            )
    error = (worst * (1 - worst) / runs) ** 0.5
    print(f"{runs} runs each; the least share is {worst:.3f} (standard error {error:.3f})")


if __name__ == "__main__":
    main()
