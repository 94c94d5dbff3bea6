"""Small logs for tests of outcome tests: made by chance, or with every share exactly as told."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from auditor_client import outcome
from auditor_client.stats.noise_distributions import Noise, NoNoise
from auditor_client.stats.outcome_moments import OutcomeMoments

UNITS = (2**20, 2**20, 2**19, 2**18, 2**18, 2**18)
COLUMNS: dict[str, Any] = {"score": "score", "outcome": "outcome", "group": "group"}
Toy = Mapping[str, Mapping[float, int]]


def log(
    rows: int, *, seed: int, effect: float = 0.0, groups: int = 2, persons: int | None = None
) -> pa.Table:
    """Scores that predict a binary outcome, short by `effect` for group b; unevenly spread."""
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=rows)
    owner = np.arange(rows)
    if persons:
        owner = rng.integers(persons, size=rows)
        group = owner % groups
    score = rng.beta(2 + 0.5 * group, 2.5)
    luck = rng.random(rows) if not persons else rng.random(persons)[owner]
    # Half of the time a person's rows share their luck.
    own = np.where(rng.random(rows) < 0.5, luck, rng.random(rows))
    chance = np.clip(0.1 + 0.7 * score + effect * (group == 1), 0, 1)
    return pa.table(
        {
            "score": score,
            "outcome": (own < chance).astype(np.float64),
            "group": np.array(["a", "b", "c"])[group],
            "person": owner,
        }
    )


def released(exact: OutcomeMoments, noise: Noise = NoNoise(), seed: int = 0) -> OutcomeMoments:  # noqa: B008
    """The six sums alone, with noise if told."""
    drawn: Any = 0.0
    if noise.variance:
        generator = np.random.default_rng(seed)
        drawn = noise.simulated(generator, exact.sums.size).reshape(exact.sums.shape)
    sums = exact.sums + drawn / np.array(UNITS)
    return OutcomeMoments(
        exact.groups, exact.edges, exact.outcome_range, sums, exact.rows_per_person, noise, UNITS
    )


def toy(people: Toy, score_of: Mapping[str, float] | None = None) -> pa.Table:
    """A hundred rows for each unit of a figure, q of them with outcome 1.

    `people` by group: how many units have true qualification q. The score is q, plus what
    `score_of` says of the group.
    """
    rows: dict[str, list[object]] = {"group": [], "score": [], "outcome": [], "q": []}
    for group, units in people.items():
        for q, count in units.items():
            size = 100 * count
            ones = round(size * q)
            rows["group"] += [group] * size
            rows["score"] += [round(q + (score_of or {}).get(group, 0.0), 6)] * size
            rows["outcome"] += [1.0] * ones + [0.0] * (size - ones)
            rows["q"] += [q] * size
    return pa.table(rows)


def run_test(table: pa.Table, **options: Any) -> outcome.Tested:
    bins = options.pop("bins", 5)
    person = options.pop("person", None)
    moments = outcome.from_frame(table, **COLUMNS, bins=bins, person=person)
    return outcome.test(moments, **options)
