"""Cases from the sensitivity search: releases of the two neighbours that differ the most.

The search finds them without noise. Here the waist puts its noise on both, many times, and the
adversary, who knows both tables and the noise, computes the log-likelihood ratio of what came out.
Several options on the same two worlds are one composition: their ratios and their prices add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from api.operations.sensitivity.compare import Cells
from api.operations.sensitivity.families import CI, Family
from api.operations.sensitivity.people import PeopleWorld
from privacy import waist
from privacy.tables.bounded_table import Table
from privacy.tables.price import ADD_REMOVE, Currency, Relation
from tests.privacy_audit.estimate import Samples
from tests.privacy_audit.sensitivity.kinds import GENERATORS
from tests.privacy_audit.sensitivity.options import Option
from tests.privacy_audit.sensitivity.search import look_at

# A kind and the name of one of its options.
Searched = tuple[str, str]


@dataclass(frozen=True)
class Worst:
    """Some options, released one after the other on the worst neighbours of the first."""

    searched: tuple[Searched, ...]

    @property
    def options(self) -> list[Option]:
        return [option_of(*each) for each in self.searched]

    def claimed(self, currency: Currency, relation: Relation) -> float:
        prices = [waist.price(option.plan) for option in self.options]
        return float(sum(price.amount(currency, relation) for price in prices))

    def statistics(self, relation: Relation, runs: int) -> dict[str, tuple[Samples, Samples]]:
        pair = worst_pair(self.options[0], relation)
        sides = [np.zeros(runs), np.zeros(runs)]
        for option in self.options:
            both = [option.tables(world) for world in pair]
            for side, own in zip(sides, both, strict=True):
                side += _ratios(option.plan, own, both, runs)
        return {"": (sides[0], sides[1])}


@cache
def option_of(kind: str, name: str) -> Option:
    [found] = [option for option in GENERATORS[kind](CI) if option.name == name]
    return found


def worst_pair(option: Option, relation: Relation) -> tuple[PeopleWorld, PeopleWorld]:
    """Return the two neighbours among the enumerated worlds whose loss is the largest."""
    family = max(option.families(), key=lambda each: look_at(option, each).losses[relation])
    worlds = list(family.worlds())
    ends = worlds[:1] if relation == ADD_REMOVE else worlds
    pairs = [(one, other) for one in ends for other in worlds if one is not other]
    return max(pairs, key=lambda pair: _loss(option, family, pair, relation))


def _loss(
    option: Option, family: Family, pair: tuple[PeopleWorld, PeopleWorld], relation: Relation
) -> float:
    one, other = pair
    stacks = [option.tables(world) for world in (one, other)]
    return sum(
        _moved(mechanism, stacks[0][name], stacks[1][name])
        for name, mechanism in option.plan.items()
    )


def _moved(mechanism: waist.Mechanism, one: Cells, other: Cells) -> float:
    far = np.abs(one - other)
    if isinstance(mechanism, waist.DiscreteGaussian):
        return float((far**2).sum()) / mechanism.scale**2
    if isinstance(mechanism, waist.NoisyMax):
        return float((one - other).max() - (one - other).min())
    return float(far.sum()) / mechanism.scale


def _ratios(
    plan: waist.ReleasePlan,
    own: Mapping[str, Cells],
    both: Sequence[Mapping[str, Cells]],
    runs: int,
) -> Samples:
    """The log-likelihood ratio of one release of all tables, again and again."""
    tables = {name: Table(plan[name].bounds, cells) for name, cells in own.items()}
    price, found = waist.price(plan), np.zeros(runs)
    for run in range(runs):
        released = waist.release(plan, tables, paid=price)
        found[run] = sum(
            _ratio(mechanism, released[name], both[0][name], both[1][name])
            for name, mechanism in plan.items()
        )
    return found


def _ratio(mechanism: waist.Mechanism, released: Any, one: Cells, other: Cells) -> float:
    """Return the ratio of the selected value's probabilities in the two worlds."""
    if isinstance(mechanism, waist.NoisyMax):
        moved = one - other
        return float(moved[released])
    if isinstance(mechanism, waist.LaplaceTree):
        # The best linear statistic of what least squares made of the nodes.
        return float(((one - other) * released).sum() / mechanism.scale)
    from_one, from_other = np.abs(released - one), np.abs(released - other)
    if isinstance(mechanism, waist.DiscreteGaussian):
        return float((from_other**2 - from_one**2).sum() / (2 * mechanism.scale**2))
    return float((from_other - from_one).sum() / mechanism.scale)
