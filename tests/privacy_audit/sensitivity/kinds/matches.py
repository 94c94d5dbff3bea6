"""Match counts."""

from hypothesis import strategies as st

from api.operations.sensitivity.families import Size
from api.operations.sensitivity.people import Human
from tests.privacy_audit.sensitivity.options import (
    EXACT,
    Option,
    audiences,
    memberships,
    shares,
    worlds,
)

# The number of people in a sample is public: nobody moves it.
_STILL = shares(0.0, 0.0)


def options(size: Size) -> list[Option]:
    found = []
    for source, audience in audiences(size).items():
        humans = [Human(groups) for groups in memberships(audience)]
        asked = {"epsilon": "0.5" if audience.groups_per_person == 2 else "1"}
        larger = st.builds(Human, st.sampled_from(memberships(audience)))
        attains = _STILL if source == "sample" else EXACT
        look = worlds(audience, humans, humans, size)
        found.append(Option("match-count", source, asked, audience, look, larger, attains))
    return found
