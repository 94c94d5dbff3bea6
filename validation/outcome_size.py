"""`python -m validation.outcome_size [RUNS]`: coverage of the limits of N%Δ, Y%Δ and ranks.

Jobs have their own levels; candidates succeed with probability q, and have the score q, or less in
group b. The true value comes from a hundred thousand jobs or lists of the same world. In the last
world, everybody is a candidate of several jobs, with the same luck in all of them.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from auditor_client import outcome

RUNS = 200
REPLICATES = 100
THRESHOLD = 0.5
EACH = 60
MANY = 100_000 // 20
NAMES: dict[str, Any] = {"score": "score", "outcome": "outcome", "group": "group", "query": "query"}


@dataclass(frozen=True)
class OutcomeWorld:
    """World of `jobs`, or of lists of which the better half is seen, with bins for correction."""

    name: str
    jobs: int
    bins: int
    bias: float = 0.1
    lists: bool = False
    people: int | None = None

    def log(self, seed: int, jobs: int) -> pa.Table:
        rng = np.random.default_rng(seed)
        query = np.repeat(np.arange(jobs), EACH)
        people = len(query) if self.people is None else self.people * jobs // self.jobs
        who = np.arange(len(query)) if self.people is None else rng.integers(0, people, len(query))
        b, luck = rng.random(people)[who] < 0.5, rng.normal(0, 0.15, people)[who]
        q = rng.uniform(0.1, 0.9, people)[who] + rng.normal(0, 0.08, jobs)[query]
        q = np.clip(q, 0.02, 0.98)
        score = q - self.bias * b
        chance = q if self.people is None else np.clip(q + luck, 0.02, 0.98)
        given = score >= THRESHOLD
        if self.lists:
            rank = np.empty(len(query), np.int64)
            rank[np.lexsort((-score, query))] = np.tile(np.arange(EACH), jobs)
            given = rank < EACH // 2
        outcomes = pa.array((rng.random(len(query)) < chance).astype(float), mask=~given)
        group = np.where(b, "b", "a")
        return pa.table(
            {"score": score, "outcome": outcomes, "group": group, "query": query, "person": who}
        )

    def asked(self, log: pa.Table, **options: Any) -> dict[str, tuple[float, Any]]:
        """Return the estimates and their limits."""
        if self.lists:
            ranks = outcome.ranks(log, **NAMES, bins=self.bins, **options)
            return {f"rank of {name}": (one.difference, one.limits) for name, one in ranks.items()}
        found = outcome.notifications(log, **NAMES, threshold=THRESHOLD, bins=self.bins, **options)
        moved = {f"N%Δ of {name}": one for name, one in found.groups.items()}
        return {
            name: (one.percent, one.limits)
            for name, one in (moved | {"Y%Δ": found.outcome}).items()
        }


WORLDS = (
    OutcomeWorld("60 jobs, one bin", 60, 1),
    OutcomeWorld("200 jobs, three bins", 200, 3),
    OutcomeWorld("60 jobs, three bins", 60, 3),
    OutcomeWorld("60 jobs, one bin, no bias", 60, 1, bias=0.0),
    OutcomeWorld("60 lists, three bins", 60, 3, lists=True),
    OutcomeWorld("60 jobs, one bin, people in nine jobs each", 60, 1, people=400),
)


def main(runs: int) -> None:
    print("| world | of | truth | standard deviation | standard error | held | unbounded |")
    print("|---|---|---|---|---|---|---|")
    for world in WORLDS:
        truths = [world.asked(world.log(10**6 + k, MANY), replicates=0) for k in range(3)]
        person = {} if world.people is None else {"person": "person"}
        found = [
            world.asked(world.log(seed, world.jobs), replicates=REPLICATES, **person)
            for seed in range(runs)
        ]
        for name in truths[0]:
            truth = float(np.mean([each[name][0] for each in truths]))
            limits = [each[name][1] for each in found]
            held = np.mean([one.low <= truth <= one.high for one in limits])
            spread = np.std([each[name][0] for each in found])
            error = np.mean([one.se for one in limits])
            loose = np.mean([np.isinf(one.high) for one in limits])
            print(
                f"| {world.name} | {name} | {truth:.2f} | {spread:.2f} | {error:.2f}"
                f" | {held:.1%} | {loose:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
