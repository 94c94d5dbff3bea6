"""Runs of one kind of audit on two neighbours, and what an adversary makes of the releases.

The adversary knows both tables and the noise, and so computes the log-likelihood ratio of what came
out; for a selection, whether the less likely one was chosen.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from api.kinds.registry import KINDS, AudienceFacts
from openapi.resources import REQUEST
from privacy import waist
from privacy.tables.bounded_table import Table
from privacy.tables.price import Currency, Relation
from privacy.waist import tree
from tests.privacy_audit import exchanged, intersected
from tests.privacy_audit.estimate import Samples
from tests.privacy_audit.exploring import in_exploring
from tests.privacy_audit.neighbours import (
    Neighbours,
    World,
    in_balances,
    in_contents,
    in_groups,
)
from tests.privacy_audit.worst import Searched, Worst

IDS = {"audience_id": "audience_" + "0" * 30, "content_id": "content_" + "0" * 30}
# Replicas per release: sums of tables grow with the square of their number.
REPLICAS = 100


@dataclass(frozen=True)
class Case:
    """One kind of audit, asked in one way, under one relation."""

    name: str
    request: Mapping[str, Any]
    relation: Relation
    currency: Currency = "epsilon"
    groups_per_person: int = 1
    known_sizes: bool = False
    # Of the runs that the others get: some mechanisms are slow.
    share: float = 1.0
    # Options of the sensitivity search whose worst neighbours are released, one after the other.
    searched: tuple[Searched, ...] = ()
    # Whether it goes through the service, with refunds and repeated requests.
    served: bool = False
    # Whether people are found by private set intersection.
    intersected: bool = False

    def neighbours(self) -> Neighbours:
        if self.request["kind"] == "most-skewed":
            return in_contents(self.relation)
        if self.request["kind"] == "envy-freeness":
            return in_exploring(self.request, self.relation)
        moved = in_balances if self.request["kind"] == "balance-histogram" else in_groups
        # The size of a bias has sums over everybody: there replicas would not be apart.
        replicas = 1 if self.request["kind"] == "bias-size" else REPLICAS
        return moved(self.relation, self.groups_per_person, replicas)


def plan_of(case: Case, groups: int) -> waist.ReleasePlan:
    if case.request["kind"] == exchanged.KIND:
        return exchanged.plan_of(case.request)
    sizes = (1,) * groups if case.known_sizes else None
    labels = tuple(f"g{number}" for number in range(groups))
    facts = AudienceFacts(labels, case.groups_per_person, sizes)
    return KINDS[case.request["kind"]].plan(REQUEST.validate_python(case.request), facts)


def claimed(case: Case) -> float:
    """Return the epsilon that the price claims."""
    if case.searched:
        return Worst(case.searched).claimed(case.currency, case.relation)
    if case.intersected:
        price = waist.price(intersected.plan_of(case.request))
        return float(price.amount(case.currency, case.relation))
    plan = plan_of(case, len(case.neighbours().one.upload))
    return float(waist.price(plan).amount(case.currency, case.relation))


def statistics(case: Case, runs: int) -> dict[str, tuple[Samples, Samples]]:
    """Samples on both neighbours, by the name of what the adversary looked at."""
    if case.searched:
        return Worst(case.searched).statistics(case.relation, runs)
    if case.intersected:
        return intersected.statistics(case.request, runs)
    if case.request["kind"] == exchanged.KIND:
        return exchanged.statistics(case.request, runs)
    neighbours = case.neighbours()
    plan = plan_of(case, len(neighbours.one.upload))
    tables = [_tables(case, plan, world) for world in (neighbours.one, neighbours.other)]
    sides = [_releases(plan, own, tables, neighbours.replicas, runs) for own in tables]
    return {name: (sides[0][name], sides[1][name]) for name in sides[0]}


def _tables(case: Case, plan: waist.ReleasePlan, world: World) -> Mapping[str, Table]:
    """Matching, cutting and reduction, as in a worker."""
    membership = world.membership(case.groups_per_person)
    request = REQUEST.validate_python(case.request)
    titles = ("up", "down") if case.request["kind"] == "most-skewed" else ("",)
    contents = [{"title": title} for title in titles]
    kind = KINDS[request.kind]
    with world.fixed():
        return kind.reduce(request, plan, contents, membership, world.context)


def _releases(
    plan: waist.ReleasePlan,
    own: Mapping[str, Table],
    both: Sequence[Mapping[str, Table]],
    replicas: int,
    runs: int,
) -> dict[str, Samples]:
    price, found = waist.price(plan), list[dict[str, Samples]]()
    with _nodes_kept() as nodes:
        for _ in range(-(-runs // replicas)):
            nodes.clear()
            released = waist.release(plan, own, paid=price)
            found.append(_judged(plan, released, both, np.array(nodes), replicas))
    return {name: np.concatenate([each[name] for each in found])[:runs] for name in found[0]}


def _judged(
    plan: waist.ReleasePlan,
    released: Mapping[str, Any],
    both: Sequence[Mapping[str, Table]],
    nodes: NDArray[np.int64],
    replicas: int,
) -> dict[str, Samples]:
    """The statistic of each replica, by what it is a statistic of."""
    total = np.zeros(replicas)
    seen = {"": total}
    for name, mechanism in plan.items():
        cells = [tables[name].cells for tables in both]
        if isinstance(mechanism, waist.NoisyMax):
            total += released[name]
        elif isinstance(mechanism, waist.LaplaceTree):
            one, other = (_raised(mechanism, each) for each in cells)
            total += _ratio(mechanism.nodes, nodes, one, other, replicas)
            # The best linear statistic of what least squares made of the nodes.
            moved = (one - other) * _raised(mechanism, released[name])
            seen[", released"] = moved.reshape(replicas, -1).sum(axis=1)
        else:
            total += _ratio(mechanism, released[name], cells[0], cells[1], replicas)
    if ", released" in seen:
        seen = {", nodes": total, ", released": seen[", released"]}
    return seen


def _ratio(
    mechanism: waist.Mechanism,
    released: NDArray[np.int64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    replicas: int,
) -> Samples:
    """The log-likelihood ratio, from the mechanism's own scale."""
    from_one, from_other = np.abs(released - one), np.abs(released - other)
    if isinstance(mechanism, waist.DiscreteGaussian):
        ratio = (from_other**2 - from_one**2) / (2 * mechanism.scale**2)
    else:
        ratio = (from_other - from_one) / mechanism.scale
    summed: Samples = ratio.reshape(replicas, -1).sum(axis=1)
    return summed


def _raised(mechanism: waist.LaplaceTree, leaves: NDArray[Any]) -> NDArray[Any]:
    """The nodes above the leaves, in the order of the mechanism."""
    grow = tree._tree(mechanism.leaves, mechanism.branching)
    incidence = np.array([grow(leaf) for leaf in np.eye(mechanism.leaves, dtype=np.int64)])
    raised: NDArray[Any] = leaves @ incidence
    return raised


@contextmanager
def _nodes_kept() -> Iterator[list[Any]]:
    """Look over the shoulder of the tree: its noisy nodes must be private before they are made
    consistent, which is post-processing.
    """
    kept: list[Any] = []
    original = tree._consistent

    def looking(branching: int) -> Any:
        consistent = original(branching)

        def keep(nodes: Any) -> Any:
            kept.append(nodes)
            return consistent(nodes)

        return keep

    with patch.object(tree, "_consistent", looking):
        yield kept
