"""Tables of some people at a time, added up."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from privacy.tables.bounded_table import Bounds, Table
from privacy.tables.membership import Membership

_FEW = 10_000


def sum_tables(
    bounds: Bounds, membership: Membership, tables: Iterable[Callable[[], Table]]
) -> Table:
    """All of these together: each is made while what the next one is made of is read.

    Of a few people it is made at once: another thread would take longer to begin.
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
