"""Assumptions of the guarantee of a charge, from its request and its audience alone.

A charge and a receipt list them under `assumes`; docs/explanation/guarantee.md explains what each
excludes.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from privacy.plans.registry import PLANS

Assumption = Literal[
    "bounded-weights", "uncounted-displacement", "other-people-in-rows", "third-party-bounds"
]
# Weights that the platform cannot see are as declared; a regulator can open the run.
BOUNDED_WEIGHTS: Final = "bounded-weights"
# People displace each other. The price of a release covers this. The lifetime cap does not count a
# person who displaces another and is not debited, because nobody named them or they are above the
# cap.
UNCOUNTED_DISPLACEMENT: Final = "uncounted-displacement"
# A row of a log belongs to one person and may be about others. The guarantee does not protect those
# others. It also ignores that others would have been ranked differently without a person.
OTHER_PEOPLE_IN_ROWS: Final = "other-people-in-rows"
# A package states the bounds. The operator searched for a counterexample to them. This project has
# no proof of them, and the verifier cannot compute them from the request.
THIRD_PARTY_BOUNDS: Final = "third-party-bounds"


def assumptions(
    request: Mapping[str, Any], *, fixed_slots: bool, third_party: bool = False
) -> list[Assumption]:
    """Return the assumptions of a charge of this request, in the order of the list.

    `fixed_slots`: whether people of the audience displace each other. `third_party`: whether a
    package adds the kind.
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
    """Return the assumptions that a charge older than format 3 lists: neither displacement nor
    others in rows.
    """
    plan = PLANS.get(kind)
    return [BOUNDED_WEIGHTS] if plan and plan.hides_weights else []
