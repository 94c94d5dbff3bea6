"""Tables of batches add up to the table of all, whether made at once or while the next is read."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from api.kinds.building_blocks.table_sum import sum_tables
from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership

BOUNDS = Bounds.counts((5,), 1)


@pytest.mark.parametrize("people", [0, 10, 10_000, 10_001])
@pytest.mark.parametrize("batches", [0, 1, 2, 5])
def test_every_batch_counts_once(people: int, batches: int) -> None:
    """More than ten thousand people are counted in a thread of its own."""
    membership = Membership((np.arange(people),), 1)
    tables: list[Callable[[], Table]] = [
        partial(Table.tally, BOUNDS, np.full(number + 1, number)) for number in range(batches)
    ]
    found = sum_tables(BOUNDS, membership, tables)
    assert found.cells.tolist() == [number + 1 if number < batches else 0 for number in range(5)]


@pytest.mark.parametrize("people", [10, 10_001])
def test_a_batch_that_fails_fails_the_table(people: int) -> None:
    def broken() -> Table:
        raise RuntimeError("no table")

    membership = Membership((np.arange(people),), 1)
    with pytest.raises(RuntimeError):
        sum_tables(BOUNDS, membership, [partial(Table.zeros, BOUNDS), broken])
