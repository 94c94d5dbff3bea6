"""Coverage of limits for people who share lists: NDCG, LOT and POT as the service releases them.

    python -m validation.list_coverage [repetitions]

Everybody makes lists and is in those of others. The outcome of a place depends on the viewer and on
the candidate, each with a personal and a group effect, so lists of the same people are dependent;
caps of more than one keep such lists. The true value of an average is its value without noise over
all repetitions, because vectors and people are drawn again in each.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from rich.console import Console
from rich.table import Table

from auditor_client import two_party
from auditor_client.stats.noise_distributions import distribution
from auditor_client.two_party import Ratios, SoftGroupSums
from privacy.metric_values import Caps, Kernels, Layout, ListRows, Ndcg, RankGaps
from privacy.metric_values.from_request import OfLists
from privacy.tables.fixed_point import weights_of

SCALE = 1000
DELTA = 0.05
PEOPLE = (200, 2000)
SHARPNESS = (0.02, 0.5)
EPSILONS = (math.inf, 2.0)
GROUPS = ("a", "b")
LENGTH = 4


@dataclass(frozen=True)
class ListDesign:
    """A metric and its reading; `items`: the listed are not people."""

    name: str
    metric: OfLists
    read: Callable[[SoftGroupSums], Ratios]
    items: bool = False


def designs() -> Iterator[ListDesign]:
    points = (0.3, 0.7)
    for viewer, candidate in ((1, 1), (2, 3), (1, 5)):
        caps = f"{viewer} lists, {candidate} places"
        ndcg = Ndcg(Caps(viewer, candidate, LENGTH))
        yield ListDesign(f"NDCG, {caps}", ndcg, two_party.ndcg)
        gaps = RankGaps(ranks=2, viewer=viewer, candidate=candidate)
        yield ListDesign(f"LOT, {caps}", gaps, _first_gap)
        yield ListDesign(
            f"POT, {caps}", Kernels(points, 0.2, caps=Caps(viewer, candidate)), _second_point
        )
    yield ListDesign(
        "NDCG, 3 lists of items", Ndcg(Caps(3, None, LENGTH)), two_party.ndcg, items=True
    )


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    table = Table("metric", "people", "vectors", "epsilon", "averages", "difference", "half-width")
    found = []
    for design, people, sharp, epsilon in product(designs(), PEOPLE, SHARPNESS, EPSILONS):
        held = covered(design, people, sharp, epsilon, repetitions)
        found.append(held[:2])
        vectors = "nearly hard" if sharp < 0.1 else "soft"
        shares = (f"{share:.1%}" for share in held[:2])
        table.add_row(design.name, str(people), vectors, f"{epsilon:g}", *shares, f"{held[2]:.2f}")
    Console().print(table)
    for name, shares in zip(("averages", "differences"), np.array(found).T, strict=True):
        print(f"{name}: mean {shares.mean():.1%}, least {shares.min():.1%} of {1 - DELTA:.0%}")


def covered(
    design: ListDesign, people: int, sharp: float, epsilon: float, repetitions: int
) -> tuple[float, float, float]:
    """Return the coverage of averages and of their difference, and half the width of their
    limits.
    """
    rng = np.random.default_rng([people, int(1e3 * sharp), repetitions])
    plain = [cells(rng, design, people, sharp) for _ in range(repetitions)]
    exact = design.read(_sums(design, np.sum(plain, axis=0), math.inf))
    target = exact.above / exact.below
    rate = epsilon / (SCALE * (design.metric.layout.total + design.metric.layout.moved))
    averages = differences = width = 0.0
    for each in plain:
        noisy = each + distribution(rate).simulated(rng, each.size).reshape(each.shape)
        ratios = design.read(_sums(design, noisy, rate))
        found = ratios.averages(DELTA)
        averages += np.mean([a.low <= t <= a.high for a, t in zip(found, target, strict=True)])
        apart = ratios.difference(1, 0, DELTA)
        differences += apart.low <= target[1] - target[0] <= apart.high
        width += float(np.mean([(a.high - a.low) / 2 for a in found]))
    return averages / repetitions, differences / repetitions, width / repetitions


def cells(
    rng: np.random.Generator, design: ListDesign, people: int, sharp: float
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the sums of one world without noise."""
    vectors = rng.dirichlet([sharp, sharp], people)
    group = (rng.random(people) < vectors[:, 1]).astype(np.float64)
    values = design.metric.values(_rows(rng, design, group), people, int(rng.integers(2**31)))
    return np.asarray(weights_of(vectors, SCALE).T @ values)


def _rows(rng: np.random.Generator, design: ListDesign, group: np.ndarray) -> ListRows:
    """Return more lists of everybody than the cap, with candidates drawn from all people."""
    people = len(group)
    asking, asked = (0.6 * rng.standard_normal(people) + 0.5 * group for _ in range(2))
    viewer = np.repeat(np.arange(people), ((design.metric.caps.viewer or 1) + 1) * LENGTH)
    candidate = rng.integers(0, people, len(viewer))
    position = np.tile(np.arange(LENGTH), len(viewer) // LENGTH)
    odds = asking[viewer] + asked[candidate] - 0.3 * position - 0.3
    outcome = (rng.random(len(viewer)) < 1 / (1 + np.exp(-odds))).astype(np.float64)
    score = 1 / (1 + np.exp(-asked[candidate] - 0.3 * rng.standard_normal(len(viewer))))
    scored = isinstance(design.metric, Kernels)
    return ListRows.of(
        np.arange(people),
        viewer=viewer,
        query=np.arange(len(viewer)) // LENGTH,
        position=position,
        candidate=None if design.items else candidate,
        numbers=np.column_stack([score, outcome] if scored else [outcome]),
    )


def _sums(design: ListDesign, table: np.ndarray, rate: float) -> SoftGroupSums:
    layout: Layout = design.metric.layout
    return SoftGroupSums.of(GROUPS, layout, table, SCALE, rate, design.metric.events)


def _first_gap(sums: SoftGroupSums) -> Ratios:
    return two_party.rank_gaps(sums, 0)


def _second_point(sums: SoftGroupSums) -> Ratios:
    return two_party.kernel_averages(sums, 1)


if __name__ == "__main__":
    main()
