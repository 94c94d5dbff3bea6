"""Charge of people scattered over a large platform, each with their own block of balances.

It is compared with a charge of the same number of neighbours, who share a few blocks. The charge
rewrites whole blocks under the ledger's lock. All balances in them differ, so compression does not
help.
"""

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from api.accounting import lifetime_caps
from api.accounting.balance_blocks import BLOCK, Blocks, list_block_numbers
from api.accounting.lifetime_caps import LifetimeDebit
from api.db import Store
from api.db.schema import migrate
from bench.harness import Figure, compare
from privacy.tables.membership import Membership, Persons
from tests.world import sqlite_url

PLATFORM = 500_000_000


def figure(command: str, people: int = 10_000) -> Figure:
    """Charge people who are evenly scattered over the blocks, and the same number of neighbours."""
    everywhere = np.linspace(0, PLATFORM - 1, people).astype(np.int64)
    assert len(np.unique(everywhere // BLOCK)) == people
    with tempfile.TemporaryDirectory() as folder:
        store = Store(sqlite_url(Path(folder)))
        migrate(store)
        far, near = _charge(store, everywhere), _charge(store, np.arange(people))
        for some in (everywhere, np.arange(people)):
            _fill(store, list_block_numbers(some))
        told = (
            f"charge of {people:,} people scattered over {PLATFORM:,};"
            " compared with as many neighbours"
        )
        taken = compare(told, far, near, goal="—", command=command)
        store.close()
    return taken


def _fill(store: Store, numbers: NDArray[np.int64]) -> None:
    rng = np.random.default_rng(0)
    with store.write() as session:
        for blocks in Blocks.chunks(session, numbers, ("spent",)):
            blocks["spent"][:] = rng.integers(0, 10**11, len(blocks["spent"]))
            blocks.save(session)


def _charge(store: Store, people: Persons) -> Callable[[], None]:
    everyone = Membership((people,), 1)

    def charge() -> None:
        with store.write() as session:
            lifetime_caps.charge(
                session, [LifetimeDebit(everyone, Fraction(1, 10**6))], Fraction(1)
            )

    return charge
