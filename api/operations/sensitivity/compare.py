"""Largest change of each table in a family of neighbours, and its privacy loss.

Norms are exact integers. The loss of a pair is the maximum gain of an adversary who knows both
worlds, from the calibrated noise over all tables of the release together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privacy import waist
from privacy.tables.bounded_table import Reach
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, Currency, Relation
from privacy.waist import tree

RELATIONS: tuple[Relation, ...] = (ADD_REMOVE, CHANGE_ONE)
Cells = NDArray[np.int64]
# Tables of the plan, each with a row of cells for each world of a family.
Stacks = Mapping[str, Cells]


@dataclass
class Largest:
    """Largest norms by table and relation, and the largest loss by relation."""

    norms: dict[tuple[str, Relation], Reach] = field(default_factory=dict)
    losses: dict[Relation, Fraction] = field(default_factory=dict)
    worlds: int = 0

    def take(self, other: "Largest") -> None:
        for at, reach in other.norms.items():
            self.norms[at] = _larger(self.norms.get(at, Reach(0, 0, 0)), reach)
        for relation, loss in other.losses.items():
            self.losses[relation] = max(self.losses.get(relation, Fraction(0)), loss)
        self.worlds += other.worlds


def claims(plan: waist.ReleasePlan) -> dict[tuple[str, Relation], Reach]:
    """Return the norms that the price assumes for each table, and for the nodes of its tree."""
    found: dict[tuple[str, Relation], Reach] = {}
    for name, mechanism in plan.items():
        parts = {name: mechanism.bounds}
        if isinstance(mechanism, waist.LaplaceTree):
            parts[_nodes(name)] = mechanism.nodes.bounds
        for part, bounds in parts.items():
            found |= {(part, ADD_REMOVE): bounds.added, (part, CHANGE_ONE): bounds.changed}
    return found


def prices(plan: waist.ReleasePlan, currency: Currency) -> dict[Relation, Fraction]:
    price = waist.price(plan)
    return {relation: Fraction(price.amount(currency, relation)) for relation in RELATIONS}


def compare(plan: waist.ReleasePlan, stacks: Stacks) -> Largest:
    """Compare the worlds of one family: the person is absent from the first one only."""
    stacks = _with_nodes(plan, stacks)
    count = len(next(iter(stacks.values())))
    found = Largest(worlds=count)
    for relation in RELATIONS:
        gains = np.zeros((1 if relation == ADD_REMOVE else count, count))
        for name, cells in stacks.items():
            norms = _norms(cells, len(gains))
            reach = Reach(*(int(each.max()) for each in norms[:3]))
            found.norms[name, relation] = reach
            if (mechanism := _priced(plan, name)) is not None:
                gains += _gain(mechanism, norms[0], norms[1], norms[3])
        one, other = np.unravel_index(int(gains.argmax()), gains.shape)
        found.losses[relation] = _loss(plan, stacks, int(one), int(other))
    return found


def _norms(cells: Cells, ends: int) -> tuple[NDArray[Any], ...]:
    """Return L1, squared L2, L∞ and the width (largest minus smallest change) of all pairs."""
    l1, l2, linf, width = np.zeros((4, ends, len(cells)), np.int64)
    for row in range(ends):
        moved = cells - cells[row]
        size = np.abs(moved)
        l1[row], l2[row] = size.sum(axis=1), (size**2).sum(axis=1)
        linf[row] = size.max(axis=1)
        width[row] = moved.max(axis=1) - moved.min(axis=1)
    return l1, l2, linf, width


def _gain(mechanism: waist.Mechanism, l1: Any, l2: Any, width: Any) -> Any:
    """Return the privacy loss of a change with these norms, for numbers and for arrays."""
    scale = Fraction(mechanism.scale) if isinstance(l1, Fraction) else mechanism.scale
    if isinstance(mechanism, waist.DiscreteGaussian):
        return l2 / (2 * scale**2)
    if isinstance(mechanism, waist.NoisyMax):
        return width / scale
    return l1 / scale


def _loss(plan: waist.ReleasePlan, stacks: Stacks, one: int, other: int) -> Fraction:
    """Return the exact loss of one pair."""
    total = Fraction(0)
    for name, cells in stacks.items():
        if (mechanism := _priced(plan, name)) is not None:
            norms = _norms(np.stack([cells[one], cells[other]]), 1)
            total += _gain(mechanism, *(Fraction(int(norms[each][0, 1])) for each in (0, 1, 3)))
    return total


def _priced(plan: waist.ReleasePlan, name: str) -> waist.Mechanism | None:
    """Return the mechanism whose noise is on these cells; that of a tree is on its nodes."""
    mechanism = plan.get(name)
    if isinstance(mechanism, waist.LaplaceTree):
        return None
    if mechanism is None:
        grown = plan[name.removesuffix(_NODES)]
        return grown.nodes if isinstance(grown, waist.LaplaceTree) else None
    return mechanism


_NODES = " (nodes)"


def _nodes(name: str) -> str:
    return name + _NODES


def _with_nodes(plan: waist.ReleasePlan, stacks: Stacks) -> dict[str, Cells]:
    found: dict[str, Cells] = {}
    for name, cells in stacks.items():
        flat = cells.reshape(len(cells), -1)
        found[name] = flat
        mechanism = plan[name]
        if isinstance(mechanism, waist.LaplaceTree):
            found[_nodes(name)] = _grown(mechanism, flat)
    return found


def _grown(mechanism: waist.LaplaceTree, flat: Cells) -> Cells:
    """Return the nodes above the leaves, by the transformation that a release applies."""
    grow = tree._tree(mechanism.leaves, mechanism.branching)
    incidence = np.array([grow(leaf) for leaf in np.eye(mechanism.leaves, dtype=np.int64)])
    rows = flat.reshape(len(flat), -1, mechanism.leaves)
    return np.asarray((rows @ incidence).reshape(len(flat), -1))


def _larger(one: Reach, other: Reach) -> Reach:
    return Reach(*(max(pair) for pair in zip(_each(one), _each(other), strict=True)))


def _each(reach: Reach) -> Iterator[int]:
    yield from (reach.l1, reach.l2_squared, reach.linf)
