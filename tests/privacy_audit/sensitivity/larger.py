"""Larger worlds, by Hypothesis: up to seven people, any numbers, guided towards large losses."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import HealthCheck, Phase, assume, given, settings, target
from hypothesis import strategies as st

from api.operations.sensitivity.compare import Largest
from api.operations.sensitivity.families import Family, Size
from api.operations.sensitivity.people import PeopleWorld
from privacy.tables.price import CHANGE_ONE
from tests.privacy_audit.sensitivity.options import Option

PEOPLE = 7
_SEEDS = 10


@st.composite
def families(draw: st.DrawFn, option: Option) -> Family:
    """Draw others, a number for the person among them, and a few things that they could be."""
    people = option.audience.people
    others = draw(st.lists(option.larger, min_size=_fewest(option), max_size=people - 1))
    number = draw(st.integers(0, len(others)))
    rest = [place for place in range(len(others) + 1) if place != number]
    there = dict(zip(rest, others, strict=True))
    assume(option.audience.is_full(PeopleWorld(there)))
    variants = draw(st.lists(option.larger, min_size=1, max_size=3))
    return Family(there, number, variants, draw(st.integers(0, _SEEDS)))


def _fewest(option: Option) -> int:
    """As many others as a sample needs in each group."""
    audience = option.audience
    return audience.size * audience.groups if audience.source == "sample" else 1


def explore(option: Option, size: Size, look: Callable[[Option, Family], Largest]) -> Largest:
    """Return the largest changes in as many drawn families as the size says."""
    found = Largest()
    people = max(PEOPLE, option.audience.people)
    option = replace(option, audience=replace(option.audience, people=people))

    @settings(
        max_examples=size.examples,
        database=None,
        deadline=None,
        derandomize=not size.is_long,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(families(option))
    def run(family: Family) -> None:
        largest = look(option, family)
        found.take(largest)
        target(float(largest.losses[CHANGE_ONE]))

    run()
    return found
