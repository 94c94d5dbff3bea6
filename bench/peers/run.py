"""Our side of each comparison, in the same run as the peer's."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from api.kinds.building_blocks.score_bins import bin_of
from auditor_client.fairness.gap import fairness_gap
from bench.harness import Figure, seconds
from bench.hosted import first_regulator, vetted
from bench.load import load
from bench.peers.environments import PeerMissingError, environment, timed
from bench.small_audits import served, signed_requests
from openapi.resources import Edges
from privacy.tables.bounded_table import Bounds, Table
from privacy.waist.laplace import DiscreteLaplace
from tests.world import sqlite_url

COMMAND = "python -m bench peers"
ROWS = 100_000
BINS = 10
ROUNDS = 20
BOOTSTRAPS = 100
COUNTS = f"{ROWS:,} rows counted in {BINS} bins under differential privacy"


@dataclass(frozen=True)
class Given:
    """Input of both sides: a folder with the same columns in files and in memory."""

    folder: Path
    scores: NDArray[np.float64]
    groups: NDArray[np.int64]

    @classmethod
    def made(cls, folder: Path) -> "Given":
        rng = np.random.default_rng(0)
        given = cls(folder, rng.random(ROWS), rng.integers(0, 2, ROWS))
        np.save(folder / "scores.npy", given.scores)
        np.save(folder / "groups.npy", given.groups)
        return given


def counted(given: Given) -> float:
    """Return the bins of a column, their counts, and a release by the waist."""

    def once() -> None:
        bounds = Bounds.counts((BINS + 1,), 1)
        edges = Edges(edges=np.linspace(0, 1, BINS + 1).tolist())
        table = Table.tally(bounds, bin_of(given.scores, edges))
        DiscreteLaplace(bounds, Fraction(1)).release(table)

    return _repeated(once)


def audited(given: Given) -> float:
    """Run audits by one researcher, one after the other, from the signed request to the release."""
    settings = {
        "platform": "bench.peers.column:platform",
        "platform_options": {"path": str(given.folder / "scores.npy")},
    }
    with served(given.folder, sqlite_url(given.folder), 1, settings) as (service, urls):
        everybody = np.arange(ROWS, dtype=np.int64)
        host = vetted(service, first_regulator(service))
        first, *rest = signed_requests(host, urls[0], everybody, ROUNDS + 1, BINS)
        load(urls, [[first]])
        done = load(urls, [rest])
        assert done.failed == 0
        return median(done.took)


def gap(given: Given) -> float:
    """Compute the gap and its interval from scores, including the noise."""

    def once() -> None:
        bounds = Bounds.counts((2, 3), 1)
        cells = bin_of(given.scores, Edges(edges=[0, 0.5, 1])) + 3 * given.groups
        noisy = DiscreteLaplace(bounds, Fraction(1)).release(Table.tally(bounds, cells))
        fairness_gap({str(group): row[:2].tolist() for group, row in enumerate(noisy)}, epsilon=1)

    return _repeated(once)


@dataclass(frozen=True)
class Peer:
    """Peer: its script, environment and arguments, and our compared function."""

    name: str
    script: str
    needs: tuple[str, ...]
    ours: Callable[[Given], float]
    goal: str = "< 1"
    asked: int = ROUNDS


PEERS = (
    Peer(
        f"{COUNTS}; compared with diffprivlib",
        "diffprivlib_histogram",
        ("diffprivlib==0.6.6", "scikit-learn<1.7"),
        counted,
    ),
    Peer(
        f"{COUNTS}; compared with SmartNoise-SQL",
        "smartnoise_histogram",
        ("smartnoise-sql==1.0.10",),
        counted,
    ),
    Peer(
        f"{COUNTS}, asked and charged over HTTP; compared with Lomas",
        "lomas_histogram",
        # It imports the last two without declaring them.
        ("lomas-server==0.4.1", "setuptools<80", "scikit-learn<1.7"),
        audited,
        "≤ 0.1",
    ),
    Peer(
        f"gap of two groups of {ROWS:,} people with its interval; compared with "
        f"Fairlearn's MetricFrame "
        f"with {BOOTSTRAPS} bootstraps",
        "fairlearn_gap",
        ("fairlearn==0.13.0",),
        gap,
        asked=BOOTSTRAPS,
    ),
)


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        given = Given.made(Path(folder))
        return [each for peer in PEERS if (each := _beside(peer, given)) is not None]


def _beside(peer: Peer, given: Given) -> Figure | None:
    try:
        python = environment(given.folder / peer.script, *peer.needs)
        its = timed(python, peer.script, given.folder, peer.asked)
    except PeerMissingError as error:
        Console().print(f"skipped: {peer.name}: {error}")
        return None
    mine = peer.ours(given)
    return Figure(peer.name, mine, its, mine / its, peer.goal, COMMAND)


def _repeated(work: Callable[[], object]) -> float:
    work()  # the peer's processes are warm, too
    return median(seconds(work) for _ in range(ROUNDS))
