"""Our side of each comparison, in the same run as the peer's."""

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from api.audits.bins import bin_of
from auditor_client.gap import fairness_gap
from bench.harness import Figure, seconds
from bench.hosted import first_regulator, vetted
from bench.load import load
from bench.peers.environments import PeerMissingError, environment, timed
from bench.small_audits import served, signed_requests
from openapi.models import Edges
from privacy.table import Bounds, Table
from privacy.waist.laplace import DiscreteLaplace
from tests.world import sqlite_url

COMMAND = "python -m bench peers"
ROWS = 100_000
BINS = 10
ROUNDS = 20
BOOTSTRAPS = 100
COUNTS = f"{ROWS:,} rows counted in {BINS} bins under differential privacy"


def run() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return _run(Path(folder))


def _run(folder: Path) -> list[Figure]:
    rng = np.random.default_rng(0)
    scores, groups = rng.random(ROWS), rng.integers(0, 2, ROWS)
    np.save(folder / "scores.npy", scores)
    np.save(folder / "groups.npy", groups)

    def peer(name: str, script: str, *given: object, needs: tuple[str, ...]) -> float:
        return timed(environment(folder / name, *needs), script, *given)

    rows = folder / "scores.npy"
    comparisons: list[tuple[str, str, Callable[[], float], Callable[[], float]]] = [
        (
            f"{COUNTS}; beside diffprivlib",
            "< 1",
            lambda: _repeated(lambda: _counted(scores)),
            lambda: peer(
                "diffprivlib",
                "diffprivlib_histogram",
                rows,
                ROUNDS,
                needs=("diffprivlib==0.6.6", "scikit-learn<1.7"),
            ),
        ),
        (
            f"{COUNTS}; beside SmartNoise-SQL",
            "< 1",
            lambda: _repeated(lambda: _counted(scores)),
            lambda: peer(
                "smartnoise",
                "smartnoise_histogram",
                rows,
                ROUNDS,
                needs=("smartnoise-sql==1.0.10",),
            ),
        ),
        (
            f"{COUNTS}, asked and charged over HTTP; beside Lomas",
            "≤ 0.1",
            lambda: _audited(folder),
            lambda: peer(
                "lomas",
                "lomas_histogram",
                rows,
                ROUNDS,
                # What it imports and does not say.
                needs=("lomas-server==0.4.1", "setuptools<80", "scikit-learn<1.7"),
            ),
        ),
        (
            f"gap of two groups of {ROWS:,} people with its interval; beside Fairlearn's "
            f"MetricFrame with {BOOTSTRAPS} bootstraps",
            "< 1",
            lambda: _repeated(lambda: _gap(scores, groups)),
            lambda: peer(
                "fairlearn",
                "fairlearn_gap",
                rows,
                folder / "groups.npy",
                BOOTSTRAPS,
                needs=("fairlearn==0.13.0",),
            ),
        ),
    ]
    return [each for asked in comparisons if (each := _beside(*asked)) is not None]


def _beside(
    name: str, goal: str, ours: Callable[[], float], theirs: Callable[[], float]
) -> Figure | None:
    try:
        its = theirs()
    except PeerMissingError as error:
        Console().print(f"skipped: {name}: {error}")
        return None
    mine = ours()
    return Figure(name, mine, its, mine / its, goal, COMMAND)


def _repeated(work: Callable[[], object]) -> float:
    return median(seconds(work) for _ in range(ROUNDS))


def _counted(scores: NDArray[np.float64]) -> None:
    """The bins of a column, their counts, and a release by the waist."""
    bounds = Bounds.counts((BINS + 1,), 1)
    edges = Edges(edges=np.linspace(0, 1, BINS + 1).tolist())
    table = Table.tally(bounds, bin_of(scores, edges))
    DiscreteLaplace(bounds, Fraction(1)).release(table)


def _audited(folder: Path) -> float:
    """Audits by one researcher, one after the other: from the signed request to the release."""
    with served(folder, sqlite_url(folder), 1, ROWS) as (service, urls):
        everybody = np.arange(ROWS, dtype=np.int64)
        host = vetted(service, first_regulator(service))
        first, *rest = signed_requests(host, urls[0], everybody, ROUNDS + 1, BINS)
        load(urls, [[first]])
        done = load(urls, [rest])
        assert done.failed == 0
        return median(done.took)


def _gap(scores: NDArray[np.float64], groups: NDArray[np.int64]) -> None:
    """From scores to the gap and its interval, with the noise counted."""
    edges = Edges(edges=[0, 0.5, 1])
    bounds = Bounds.counts((2, 3), 1)
    table = Table.tally(bounds, bin_of(scores, edges) + 3 * groups)
    noisy = DiscreteLaplace(bounds, Fraction(1)).release(table)
    fairness_gap({str(group): row[:2].tolist() for group, row in enumerate(noisy)}, epsilon=1)
