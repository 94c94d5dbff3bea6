"""Paper 5's Table 5: gaps between adjacent ranks, recovered through the whole encrypted protocol.

The tester holds the probabilities of `replications.paper_5.lot_world`, the client its lists; the
library's protocol returns LOT of eq. 8. The encrypted result must equal the unencrypted one, to the
last unit. The errors come from a bootstrap of 1,000 resamples of unencrypted queries, by somebody
who sees all data: resampled sums would reveal each team's data to the other.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from privacy.two_party import Entries
from replications.paper_5.lot_world import (
    GAPS,
    METRIC,
    SEED,
    TUPLES,
    WEIGHT_SCALE,
    LotWorld,
    estimates,
    plain,
    read,
    world,
)
from replications.paper_5.two_teams import (
    ClientParty,
    ClientRows,
    LibraryTerms,
    Places,
    TesterParty,
    plaintext_sums,
)


def terms_of(made: LotWorld) -> LibraryTerms:
    # The difference of two outcomes, each within `most`, and a one of the same scale.
    most = int(2 * METRIC.most * METRIC.scale)
    members = len(made.weights)
    return LibraryTerms(
        study="table-5",
        members=members,
        people=members,
        rows=len(made.rows.cell),
        groups=len(made.groups),
        tuples=TUPLES,
        columns=2,
        cells=len(GAPS),
        weights=Entries(0, WEIGHT_SCALE, WEIGHT_SCALE),
        values=Entries(-most, most, most + METRIC.scale),
    )


def encrypted(made: LotWorld, terms: LibraryTerms, workers: int = 2) -> NDArray[np.object_]:
    """Return the sums by the protocol, both parties in turns."""
    tokens = b"".join(_tokens(terms.members))
    with ProcessPoolExecutor(workers) as pool:
        tester = TesterParty(terms, tokens, made.weights, spread=pool.map)
        client = ClientParty(terms, tokens, _rows(made), spread=pool.map)
        message: bytes | None = tester.start()
        while message is not None:
            message = tester.receive(client.receive(message))
    return client.sums


def in_the_clear(made: LotWorld, terms: LibraryTerms) -> NDArray[np.object_]:
    tokens = _tokens(terms.members)
    weights = dict(zip(tokens, made.weights, strict=True))
    return plaintext_sums(terms, weights, tokens, _rows(made))


def main(seed: int = SEED) -> None:
    console = Console()
    with _timed(console, "data"):
        made = world(seed)
        terms = terms_of(made)
    with _timed(console, "encrypted, two parties"):
        sums = encrypted(made, terms)
    with _timed(console, "the same in the clear"):
        assert np.array_equal(sums, in_the_clear(made, terms)), "encrypted sums differ from plain"
    with _timed(console, "1,000 resamples in the clear"):
        found = read(plain(made))
    assert np.array_equal(found.value, estimates(sums)), "the bootstrap is of other data"
    table = Table("rank pair", "ground truth", "encrypted LOT", "bootstrap SE")
    for rank, (truth, estimate, error) in enumerate(
        zip(GAPS, found.value, found.se, strict=True), start=1
    ):
        table.add_row(f"{rank}-{rank + 1}", f"{truth:.4f}", f"{estimate:.4f}", f"{error:.1e}")
    console.print(table)
    found.check(seed)
    console.print(f"{sums.size:,} encrypted sums equal those in the clear, to the last unit")


def _tokens(members: int) -> list[bytes]:
    return [number.to_bytes(32, "big") for number in range(members)]


def _rows(made: LotWorld) -> ClientRows:
    rows = made.rows
    return ClientRows(Places(rows.members, rows.cell), rows.values)


@contextmanager
def _timed(console: Console, what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    console.print(f"{what}: {time.perf_counter() - started:.1f} s")
