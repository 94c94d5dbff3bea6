"""Assumptions on which the promise of a charge rests, from its kind and its audience alone.

A charge and a receipt list them under `assumes`; docs/guarantee.md says what each leaves out.
"""

from typing import Final, Literal

Assumption = Literal["bounded-weights", "uncounted-displacement"]
# Weights that the platform cannot see are as declared; a regulator can open the run.
BOUNDED_WEIGHTS: Final = "bounded-weights"
# People displace each other. The price of a release covers this. The lifetime cap does not count
# somebody who displaces another and is not debited, because nobody named them or they are above it.
UNCOUNTED_DISPLACEMENT: Final = "uncounted-displacement"
_HIDES_WEIGHTS = "two-party"


def assumptions(kind: str, *, fixed_slots: bool) -> list[Assumption]:
    """Return what a charge of this kind assumes, in the order of the list.

    `fixed_slots`: whether people of the audience displace each other.
    """
    found: list[Assumption] = []
    if kind == _HIDES_WEIGHTS:
        found.append(BOUNDED_WEIGHTS)
    if fixed_slots:
        found.append(UNCOUNTED_DISPLACEMENT)
    return found
