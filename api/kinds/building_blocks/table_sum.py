"""Sums of tables that are made from a batch of people at a time."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership

_FEW = 10_000


def sum_tables(
    bounds: Bounds, membership: Membership, tables: Iterable[Callable[[], Table]]
) -> Table:
    """Return the sum of all tables; each is made while the data of the next one are read.

    For a few people it is made at once, because another thread would take longer to begin.
    """
    table = Table.zeros(bounds)
    if sum(len(group) for group in membership.groups) <= _FEW:
        for make in tables:
            table += make()
        return table
    with ThreadPoolExecutor(max_workers=1) as pool:
        made = pool.submit(Table.zeros, bounds)
        for make in tables:
            table += made.result()
            made = pool.submit(make)
        return table + made.result()
