"""Release plans: the parts of a request's release, from the request and public facts alone.

Each built-in kind of audit has one module with one pure function here. The platform uses it for
prices and noise. The ledger's verifier applies its own copy to the signed request: a charge must
state exactly these parts.

A plan never changes for a request that may have been charged. A kind that needs other bounds adds a
field to its request, and its plan uses that field.
"""

from privacy.plans.assumptions import assumptions, assumptions_before
from privacy.plans.kind_plan import KindPlan, PlannedTable, PublicAudience, Request, has_fixed_slots
from privacy.plans.registry import PLANS

__all__ = [
    "PLANS",
    "KindPlan",
    "PlannedTable",
    "PublicAudience",
    "Request",
    "assumptions",
    "assumptions_before",
    "has_fixed_slots",
]
