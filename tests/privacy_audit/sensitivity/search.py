"""The search itself: enumerated worlds, then larger ones, of one option at a time."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from api.kernel.errors import RefusalError
from api.kinds.registry import KINDS
from api.operations.sensitivity.audiences import forget_memberships
from api.operations.sensitivity.compare import (
    RELATIONS,
    Largest,
    claims,
    compare,
    prices,
)
from api.operations.sensitivity.families import Family, Size
from api.operations.sensitivity.people import PeopleWorld
from privacy.tables.bounded_table import Reach
from privacy.tables.price import Relation
from tests.privacy_audit.sensitivity.larger import explore
from tests.privacy_audit.sensitivity.options import Option
from tests.privacy_audit.sensitivity.running import platform_of

# Scales are rounded up to floats, so that a loss may stay below the price by some of their bits.
_ROUNDED = 1e-9


@dataclass(frozen=True)
class Result:
    """The claimed bound for one option, and the largest change found.

    `enumerated` is the share of the price that the enumerated worlds alone attain.
    """

    kind: str
    option: str
    refused: bool
    wrong: tuple[str, ...] = ()
    claimed: dict[tuple[str, Relation], Reach] = field(default_factory=dict)
    found: Largest = field(default_factory=Largest)
    price: dict[Relation, Fraction] = field(default_factory=dict)
    enumerated: dict[Relation, float] = field(default_factory=dict)
    sampled: bool = False

    @property
    def violated(self) -> bool:
        return bool(self.wrong)


def search(option: Option, size: Size) -> Result:
    """Search one option; everything that is wrong with it is named in the result."""
    forget_memberships()
    if is_refused(option):
        unexpected = () if option.must_be_refused else ("refused, though it should run",)
        return Result(option.kind, option.name, True, unexpected)
    claimed, price = claims(option.plan), prices(option.plan, option.currency)
    found = _over(option, option.families())
    enumerated = {
        relation: float(found.losses[relation] / price[relation]) for relation in RELATIONS
    }
    found.take(explore(option, size, look_at))
    wrong = ["runs, though it should be refused"] if option.must_be_refused else []
    wrong += [
        f"{table} moves by more than it claims under {relation}"
        for (table, relation), reach in found.norms.items()
        if not _covers(claimed[table, relation], reach)
    ]
    for relation in RELATIONS:
        if found.losses[relation] > price[relation]:
            wrong.append(f"the loss under {relation} is above the price")
        if enumerated[relation] < option.attains[relation] - _ROUNDED:
            wrong.append(f"the search is too weak under {relation}")
    return Result(
        option.kind,
        option.name,
        False,
        tuple(wrong),
        claimed,
        found,
        price,
        enumerated,
        option.sampled,
    )


def is_refused(option: Option) -> bool:
    """Whether the kind refuses such a request, by public facts alone."""
    sources = getattr(KINDS[option.kind], "sources", None)
    if sources is not None and option.audience.source not in sources:
        return True
    try:
        KINDS[option.kind].check(
            option.request, option.audience.facts, platform_of(PeopleWorld({}))
        )
    except RefusalError:
        return True
    return False


def look_at(option: Option, family: Family) -> Largest:
    """The largest changes within one family."""
    tables = [option.tables(world) for world in family.worlds()]
    stacks = {name: np.stack([each[name] for each in tables]) for name in option.plan}
    return compare(option.plan, stacks)


def _over(option: Option, families: Iterable[Family]) -> Largest:
    found = Largest()
    for family in families:
        found.take(look_at(option, family))
    return found


def _covers(claimed: Reach, found: Reach) -> bool:
    return (
        found.l1 <= claimed.l1
        and found.l2_squared <= claimed.l2_squared
        and found.linf <= claimed.linf
    )
