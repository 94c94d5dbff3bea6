"""An audit of a million people, from a sealed audience to a committed release.

The floor is what nobody can do without: the same `Scores` call on the same person numbers, the
bins by NumPy, `bincount`, and OpenDP noise on the cells. Ours adds the price, the charge and the
ledger, reading the audience, cutting, the receipt, and the commits. The model is the demo's.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from unittest.mock import patch

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from api import persons
from api.audits.bins import bin_of
from api.compose import simulated
from api.platform import Scores
from bench.harness import Figure, compare, seconds
from bench.hosted import BINS, EDGES, Hosted, hosted
from bench.joining import hash_join
from bench.memory import peak_of
from openapi.models import Edges
from platform_sim import SOFTWARE_JOB
from privacy.membership import Persons

COMMAND = "python -m bench large-audit"
_Bins = Callable[[NDArray[np.float64]], NDArray[np.intp]]
FLOOR = "beside scores, bincount and noise"
_ROUNDS = 5


def run(people: int = 1_000_000) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), simulated(people=people)) as host,
    ):
        return _figures(host, people)


def _figures(host: Hosted, people: int) -> list[Figure]:
    everybody = np.random.default_rng(0).permutation(people).astype(np.int64)
    request, groups = host.sealed(everybody)
    scores = host.service.platform.scores
    assert scores is not None
    name = f"audit of {people:,} people, sealed to released"

    def ours() -> None:
        host.audit(request)

    def without_balances() -> None:
        with patch.object(persons, "charge", return_value=[None] * len(groups)):
            ours()

    def against(name: str, work: Callable[[], object], how: _Bins, goal: str) -> Figure:
        return compare(name, work, lambda: floor(scores, groups, how), goal=goal, command=COMMAND)

    ours()  # people's balances are there from now on
    unaccounted = f"{name}, without people's balances"
    return [
        against(f"{name}; {FLOOR}", ours, _searched, "≤ 1.7"),
        against(f"{unaccounted}; {FLOOR}", without_balances, _searched, "≤ 1.3"),
        against(f"{unaccounted}; beside the same with our own bins", without_balances, _own, "—"),
        _beside_a_join(f"{name}, without scoring; beside a hash join", ours, scores, groups),
        _memory(f"{name}: memory; beside scores and identifiers", ours, groups),
    ]


def floor(scores: Scores, groups: tuple[Persons, ...], bins: _Bins) -> None:
    context = {name: values[0] for name, values in scores.context.items()}
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=1.0)
    cells = [
        np.bincount(bins(scores.score(SOFTWARE_JOB, group, context)), minlength=BINS + 1)
        for group in groups
    ]
    mechanism(np.concatenate(cells).astype(np.int64))


def _searched(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.searchsorted(EDGES[1:-1], values, side="right")


def _own(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return bin_of(values, Edges(edges=EDGES.tolist()))


def _beside_a_join(
    name: str, ours: Callable[[], object], scores: Scores, groups: tuple[Persons, ...]
) -> Figure:
    """What we add to the scores, and one hash join of as many identifiers with their people."""
    context = {name: values[0] for name, values in scores.context.items()}
    join = hash_join(sum(map(len, groups)))
    added, joined = [], []
    for _ in range(_ROUNDS):
        scoring = seconds(lambda: [scores.score(SOFTWARE_JOB, each, context) for each in groups])
        added.append(seconds(ours) - scoring)
        joined.append(seconds(join))
    mine, theirs = median(added), median(joined)
    return Figure(name, mine, theirs, mine / theirs, "≤ 1", COMMAND)


def _memory(name: str, ours: Callable[[], object], groups: tuple[Persons, ...]) -> Figure:
    """In megabytes; a score takes eight bytes, an identifier as it is uploaded thirty-two."""
    held = (8 + 32) * sum(map(len, groups)) / 1e6
    peak = peak_of(ours) / 1e6
    return Figure(name, peak, held, peak / held, "≤ 2", COMMAND, unit="MB")
