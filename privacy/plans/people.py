"""Plans of the audits that count people without reading scores or logs."""

from fractions import Fraction

from privacy.plans.part import PlannedTable, PublicAudience, Request
from privacy.tables.bounded_table import Bounds


def match_count(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the number of people of each group whom the platform found.

    The number of people in a sample is public and does not move, so no slot is counted twice.
    """
    bounds = Bounds.counts((audience.groups,), audience.groups_per_person)
    return (PlannedTable("matched", "discrete-laplace", bounds, Fraction(request["epsilon"])),)


def balance_histogram(request: Request, audience: PublicAudience) -> tuple[PlannedTable, ...]:
    """Plan the counts by group and share of the lifetime cap, the last cell outside of all bins."""
    shape = (audience.groups, len(request["bins"]["edges"]))
    reach, slots = audience.groups_per_person, audience.fixed_slots
    bounds = Bounds.counts(shape, reach, fixed_slots=slots)
    return (PlannedTable("balances", "discrete-laplace", bounds, Fraction(request["epsilon"])),)
