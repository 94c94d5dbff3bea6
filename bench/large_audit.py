"""An audit of a million people, from a sealed audience to a committed release.

The floor is the minimum work: the same `Scores` call on the same person numbers, the bins,
`bincount`, and OpenDP noise on the cells. NumPy finds the bins, or our own code, which is faster
and so the harder floor. Ours adds the price, the charge and the ledger, reading the audience,
dropping excess groups, the receipt, and the commits. The model is the demo's. All run alternately,
so that a ratio compares runs at nearly the same time.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray

from api.accounting import charge
from api.accounting.lifetime_caps import LifetimeDebit
from api.app.compose import make_simulated_platform
from api.kinds.building_blocks.score_bins import bin_of
from api.platforms.interfaces import Scores
from bench import scattered
from bench.harness import Figure, in_turns
from bench.hosted import BINS, EDGES, Hosted, hosted
from bench.joining import hash_join
from bench.memory import in_a_fresh_process, peak_of
from openapi.resources import Edges
from platform_sim import SOFTWARE_JOB
from privacy.tables.membership import Persons

COMMAND = "python -m bench large-audit"
ROUNDS = 9
_Bins = Callable[[NDArray[np.float64]], NDArray[np.intp]]


def run(people: int = 1_000_000) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), make_simulated_platform(people=people)) as host,
    ):
        figures = _figures(host, people)
    return [*figures, _memory(people), scattered.figure(COMMAND)]


def _figures(host: Hosted, people: int) -> list[Figure]:
    request, groups = host.sealed(_everybody(people))
    scores = host.service.platform.scores
    assert scores is not None

    def ours() -> None:
        host.audit(request)

    def without_balances() -> None:
        with patch.object(charge, "_debited", _everybody_debited):
            ours()

    ours()  # people's balances exist from now on
    took = in_turns(
        {
            "ours": ours,
            "unaccounted": without_balances,
            "our bins": lambda: floor(scores, groups, _own),
            "NumPy's bins": lambda: floor(scores, groups, _searched),
            "scores": lambda: _scored(scores, groups),
            "join": hash_join(people),
        },
        ROUNDS,
    )
    return _compared(f"audit of {people:,} people, sealed to released", took)


def _everybody_debited(
    _session: object, burdens: Sequence[LifetimeDebit], _settings: object
) -> list[list[None]]:
    """Return the masks of a charge that drops nobody, without reading balances."""
    return [[None] * len(burden.membership.groups) for burden in burdens]


def _compared(name: str, took: dict[str, list[float]]) -> list[Figure]:
    unaccounted = f"{name}, without people's balances"
    added = [ours - scored for ours, scored in zip(took["ours"], took["scores"], strict=True)]
    ours = ((name, "ours", "≤ 1.7"), (unaccounted, "unaccounted", "≤ 1.3"))
    return [
        *(
            Figure.of(
                f"{told}; compared with scores, {bins}, bincount and noise",
                took[mine],
                took[bins],
                goal,
                COMMAND,
            )
            for told, mine, most in ours
            for bins, goal in (("our bins", most), ("NumPy's bins", "—"))
        ),
        Figure.of(
            f"{name}, without scoring; compared with a hash join",
            added,
            took["join"],
            "≤ 1",
            COMMAND,
        ),
    ]


def floor(scores: Scores, groups: tuple[Persons, ...], bins: _Bins) -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=1.0)
    cells = [np.bincount(bins(each), minlength=BINS + 1) for each in _scored(scores, groups)]
    mechanism(np.concatenate(cells).astype(np.int64))


def _scored(scores: Scores, groups: tuple[Persons, ...]) -> list[NDArray[np.float64]]:
    context = {name: values[0] for name, values in scores.context.items()}
    return [scores.score(SOFTWARE_JOB, group, context) for group in groups]


def _searched(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return np.searchsorted(EDGES[1:-1], values, side="right")


def _own(values: NDArray[np.float64]) -> NDArray[np.intp]:
    return bin_of(values, Edges(edges=EDGES.tolist()))


def _everybody(people: int) -> Persons:
    return np.random.default_rng(0).permutation(people).astype(np.int64)


def _memory(people: int) -> Figure:
    """Measure memory in megabytes; a score takes eight bytes, an uploaded identifier thirty-two."""
    name = (
        f"audit of {people:,} people, sealed to released: memory;"
        " compared with scores and identifiers"
    )
    held = (8 + 32) * people / 1e6
    taken = in_a_fresh_process(peak, people) / 1e6
    return Figure(name, taken, held, taken / held, "≤ 2", COMMAND, unit="MB")


def peak(people: int) -> float:
    """Return the peak number of bytes of an audit of these people, after an audit of a few."""
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), make_simulated_platform(people=people)) as host,
    ):
        few, _ = host.sealed(_everybody(people)[: people // 100])
        request, _ = host.sealed(_everybody(people))
        host.audit(few)
        return peak_of(lambda: host.audit(request))
