"""Bounds of tables to which a person adds logged rows, for the plans of kinds that read logs.

The proofs of one row's contribution are in the kinds' own modules
(`api/kinds/outcome_test/__init__.py`, …).
"""

from typing import Final

from privacy.plans.kind_plan import PublicAudience, Request
from privacy.tables.bounded_table import Bounds, Reach

ONE_CELL: Final = Reach(1, 1, 1)


def row_bounds(
    request: Request, audience: PublicAudience, shape: tuple[int, ...], row: Reach
) -> Bounds:
    """Return bounds of a table to which each of a person's rows adds at most these amounts, in each
    group.
    """
    return Bounds.rows(
        shape,
        row,
        request["rows_per_person"],
        audience.groups_per_person,
        fixed_slots=audience.fixed_slots,
    )
