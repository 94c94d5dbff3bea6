"""Assumptions on which the promise of a charge rests, from its request and its audience alone.

A charge and a receipt list them under `assumes`; docs/explanation/guarantee.md says what each
leaves out.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from privacy.plans.registry import PLANS

Assumption = Literal[
    "bounded-weights", "uncounted-displacement", "other-people-in-rows", "third-party-bounds"
]
# Weights that the platform cannot see are as declared; a regulator can open the run.
BOUNDED_WEIGHTS: Final = "bounded-weights"
# People displace each other. The price of a release covers this. The lifetime cap does not count
# somebody who displaces another and is not debited, because nobody named them or they are above it.
UNCOUNTED_DISPLACEMENT: Final = "uncounted-displacement"
# A row of a log belongs to one person and may be about others. Those are not protected by it, nor
# is it counted that others would have been ranked differently without a person.
OTHER_PEOPLE_IN_ROWS: Final = "other-people-in-rows"
# The bounds are those that a package states. The operator searched them for a counterexample; no
# proof of them is part of this project, and the verifier cannot compute them from the request.
THIRD_PARTY_BOUNDS: Final = "third-party-bounds"


def assumptions(
    request: Mapping[str, Any], *, fixed_slots: bool, third_party: bool = False
) -> list[Assumption]:
    """Return what a charge of this request assumes, in the order of the list.

    `fixed_slots`: whether people of the audience displace each other. `third_party`: whether the
    kind is one that a package adds.
    """
    plan = PLANS.get(request["kind"])
    found: list[Assumption] = []
    if plan and plan.hides_weights:
        found.append(BOUNDED_WEIGHTS)
    if fixed_slots:
        found.append(UNCOUNTED_DISPLACEMENT)
    if plan and plan.others_in_rows(request):
        found.append(OTHER_PEOPLE_IN_ROWS)
    if third_party:
        found.append(THIRD_PARTY_BOUNDS)
    return found


def assumptions_before(kind: str) -> list[Assumption]:
    """Return what a charge older than format 3 lists: neither displacement nor others in rows."""
    plan = PLANS.get(kind)
    return [BOUNDED_WEIGHTS] if plan and plan.hides_weights else []
