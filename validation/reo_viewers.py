"""Coverage of the penalty's interval on own logs whose viewers are unequally busy.

    python -m validation.reo_viewers [RUNS]

Each world draws the number of rows of each viewer from a heavy-tailed distribution. A viewer has
preferences for groups of creators and a probability of liking items, and is in both traffics. None
of these worlds was used to choose a constant of the estimator.
"""

import math
import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

from auditor_client import reo
from auditor_client.stats.noise_distributions import Floats

_MOST = 2_000


@dataclass(frozen=True)
class World:
    """The distribution of rows per viewer, the number of viewers, and the true utility ratio."""

    activity: str
    tail: float
    viewers: int
    utility: float

    def log(self, rng: np.random.Generator, chance: float, utility: float) -> pl.DataFrame:
        rows = np.minimum(self._rows(rng), _MOST).astype(np.int64)
        viewer = np.repeat(np.arange(self.viewers), rows)
        group = rng.random(len(viewer)) < rng.uniform(size=self.viewers)[viewer]
        mood = rng.beta(1, (1 - chance) / chance, self.viewers)[viewer]
        like = rng.random(len(viewer)) < mood * np.where(group, utility, 1.0)
        return pl.DataFrame({"like": like, "group": group, "viewer": viewer})

    def _rows(self, rng: np.random.Generator) -> Floats:
        if self.activity == "zipf":
            return np.minimum(rng.zipf(self.tail, self.viewers), _MOST).astype(np.float64)
        if self.activity == "pareto":
            return np.ceil(rng.pareto(self.tail, self.viewers) + 0.5)
        return np.ceil(rng.lognormal(0, self.tail, self.viewers))


WORLDS = [
    World(activity, tail, viewers, utility)
    for activity, tail in (
        ("zipf", 1.8), ("zipf", 2.2), ("pareto", 1.2), ("pareto", 1.6),
        ("lognormal", 1.5), ("lognormal", 2.0),
    )
    for utility in (1.0, 0.6)
    for viewers in (400, 2_000)
]  # fmt: skip


def coverage(world: World, runs: int, seed: int = 5) -> tuple[float, float]:
    """Return the share of 95 % intervals that contain the true value, and of defined penalties."""
    rng = np.random.default_rng(seed)
    truth = abs(1 - world.utility) / (1 + world.utility)
    held = defined = 0
    for _ in range(runs):
        logs = reo.own_logs(
            world.log(rng, 0.3, world.utility), world.log(rng, 0.15, 1.0),
            ["like"], "group", viewer="viewer",
        )  # fmt: skip
        found = logs.penalty()
        held += found.low - 1e-12 <= truth <= found.high + 1e-12
        defined += found.defined
    return held / runs, defined / runs


def main(runs: int) -> None:
    """Print a row per world, and the worst."""
    worst = (1.0, "")
    for world in WORLDS:
        held, defined = coverage(world, runs)
        error = math.sqrt(held * (1 - held) / runs)
        name = f"{world.activity} {world.tail}, {world.viewers} viewers, ratio {world.utility}"
        print(f"| {name} | {held:.1%} ± {error:.1%} | {defined:.0%} |", flush=True)
        worst = min(worst, (held, name))
    print(f"worst: {worst[0]:.1%}, {worst[1]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
