"""Coverage of the limits of other metrics: part of `python -m validation.gap_coverage`.

The shares of two groups in equal bins of [0, 1] simulate a platform; the true values follow from
these shares. Releases are histograms with Laplace or Gaussian noise, or cumulative counts of a
tree.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from auditor_client.fairness.gap import measured_groups
from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.group_view import CdfGroupView, GroupView, HistogramGroupView
from auditor_client.fairness.metrics.ks import kolmogorov_smirnov
from auditor_client.fairness.metrics.means import mean_difference
from auditor_client.fairness.metrics.parity import impact_ratio, parity
from auditor_client.fairness.metrics.quantiles import quantile_gap
from auditor_client.fairness.metrics.wasserstein import wasserstein
from auditor_client.stats.noise import Floats, Gaussian, Laplace, Noise

Measure = Callable[[GroupView, GroupView, float], Estimate]
BRANCHING = 4
# Metrics with exact tails come closest to their level, so they are simulated more often.
TIMES = {"parity": 4, "ratio": 4}


@dataclass(frozen=True)
class Platform:
    """Shares of two groups, which determine the true values of metrics."""

    name: str
    shares: tuple[Floats, Floats]

    @property
    def bins(self) -> int:
        return len(self.shares[0])

    @property
    def middles(self) -> tuple[float, ...]:
        return tuple((np.arange(self.bins) + 0.5) / self.bins)

    @property
    def limits(self) -> list[tuple[float, float]]:
        return [(k / self.bins, (k + 1) / self.bins) for k in range(self.bins)]


def platforms() -> list[Platform]:
    even, three = np.full(20, 0.05), np.zeros(20)
    three[[4, 10, 15]] = 1 / 3
    slope = np.linspace(1.6, 0.4, 20) / 20
    wide, narrow = np.zeros(20), np.zeros(20)
    wide[[0, 19]], narrow[10] = 0.5, 1.0
    return [
        Platform("fair, even", (even, even)),
        Platform("fair, in three bins", (three, three)),
        Platform("shifted", (even, slope)),
        Platform("same mean, other spread", (wide, 0.5 * wide + 0.5 * narrow)),
    ]


def measures(platform: Platform) -> Iterator[tuple[str, Measure, float]]:
    """Yield each metric with its true value."""
    half, one, other = platform.bins // 2, *platform.shares
    middles = np.asarray(platform.middles)
    below, above = one[:half].sum(), one[half:].sum()
    running = np.abs(np.cumsum(one) - np.cumsum(other))
    yield "parity", lambda a, b, d: parity(a, b, half, d, ""), other[:half].sum() - below
    yield "ratio", lambda a, b, d: impact_ratio(a, b, half, d, ""), above / other[half:].sum()
    yield "mean", lambda a, b, d: mean_difference(a, b, d, 0.0), float((one - other) @ middles)
    yield "KS", kolmogorov_smirnov, float(running.max())
    yield "W1", lambda a, b, d: wasserstein(a, b, d, 0.0), float(running.sum()) / platform.bins
    gap = _median(one, middles) - _median(other, middles)
    yield "median", lambda a, b, d: quantile_gap(a, b, platform.limits, 0.5, d), gap


def _median(shares: Floats, middles: Floats) -> float:
    return float(middles[int(np.argmax(np.cumsum(shares) >= 0.5 - 1e-12))])


def release(
    platform: Platform, people: int, noise: Noise | None, sizes: str, generator: np.random.Generator
) -> tuple[GroupView, GroupView]:
    """Return the two groups of a release; without a noise, cumulative counts of a tree."""
    found: list[GroupView] = []
    for number, shares in enumerate(platform.shares):
        counts = np.append(generator.multinomial(people, shares), 0)
        if noise is None:
            found.append(tree_side(str(number), counts, platform.middles, generator))
            continue
        table = [int(count) for count in counts + noise.simulated(generator, len(counts))]
        name, own = str(number), Laplace(0.25)
        known = {name: people} if sizes == "known" else {}
        bought = people + int(own.simulated(generator, 1)[0])
        noisy = {name: bought} if sizes == "noisy" else {}
        group = measured_groups({name: table}, noise, known, noisy, own)[name]
        found.append(HistogramGroupView(name, group, platform.middles))
    return found[0], found[1]


def tree_side(
    name: str, counts: Floats, middles: tuple[float, ...], generator: np.random.Generator
) -> CdfGroupView:
    """Return cumulative counts of a consistent tree over the cells, as in privacy/waist/tree.py."""
    nodes = incidence(len(counts))
    height = int(nodes.sum(axis=0).max())
    rate = 1 / height
    noisy = nodes @ counts + Laplace(rate).simulated(generator, len(nodes))
    solve = np.cumsum(np.linalg.pinv(nodes), axis=0)
    copies = float((solve**2).sum(axis=1).max())
    return CdfGroupView(name, tuple(solve @ noisy), rate, copies, middles)


def incidence(leaves: int) -> Floats:
    """Return the leaves under each node, level by level from the leaves up to the root."""
    leaf, levels, width = np.arange(leaves), [], 1
    while True:
        nodes = np.arange(-(-leaves // width))
        levels.append(nodes[:, None] == leaf[None, :] // width)
        if width >= leaves:
            return np.concatenate(levels).astype(np.float64)
        width *= BRANCHING


def designs() -> Iterator[tuple[Noise | None, str, int]]:
    """Yield the noise (None: a tree), the known sizes, and the people per group."""
    yield Laplace(1.0), "known", 60
    yield Laplace(1.0), "known", 400
    yield Gaussian(1.0), "noisy", 200
    yield Laplace(0.5), "estimated", 200
    yield None, "tree", 400


def lines(runs: int, delta: float) -> Iterator[tuple[str, float]]:
    """Yield a printed line and its coverage for every metric and design, all platforms together."""
    for number, (noise, sizes, people) in enumerate(designs()):
        generator = np.random.default_rng(1000 + number)
        missed: Counter[tuple[str, str]] = Counter()
        widths: dict[str, list[float]] = {}
        for platform in platforms():
            times = TIMES if sizes == "known" else {}
            most = range(runs * max(times.values(), default=1))
            pairs = [release(platform, people, noise, sizes, generator) for _ in most]
            for name, measure, truth in measures(platform):
                for pair in pairs[: runs * times.get(name, 1)]:
                    estimate = measure(*pair, delta)
                    missed[name, "below"] += estimate.low > truth + 1e-9
                    missed[name, "above"] += estimate.high < truth - 1e-9
                    widths.setdefault(name, []).append(estimate.high - estimate.low)
        law = "tree" if noise is None else type(noise).__name__.lower()
        for name, found in widths.items():
            below, above = (missed[name, side] / len(found) for side in ("below", "above"))
            line = f"{name:>7} {people:>6} {law:>9} {sizes:>10} {np.median(found):6.3f}"
            yield f"{line} {below:6.3f} {above:6.3f} {1 - below - above:8.3f}", 1 - below - above
