"""Neighbours for audits of envy: one person more or less, or another one in their place.

They are an arm of as many targets as they may be, all of whom envy them or, where they come in,
the arm that goes for them. The lots are drawn by the same secret on both sides, and what everybody
likes is the same, as if the adversary knew all of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from api.kinds.context import AuditContext, in_process_context
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots
from api.platforms.interfaces import Platform
from openapi.resources import EnvyFreenessRequest
from privacy.tables.price import ADD_REMOVE, Relation
from tests.exploring import Notebook, Recommendations
from tests.privacy_audit.neighbours import Neighbours, SmallPlatform, World

SECRET = 5


@dataclass(frozen=True)
class ExploringWorld(World):
    """People are matched as ever; what they get from anybody's recommendations is known."""

    policies: Recommendations

    @property
    def platform(self) -> Platform:
        return Platform("small", self.people, policies=self.policies)

    @property
    def context(self) -> AuditContext:
        return in_process_context(self.platform, journal=Notebook())

    @contextmanager
    def fixed(self) -> Iterator[None]:
        with patch("api.kinds.envy_freeness.secrets.randbits", lambda _: SECRET):
            yield


def in_exploring(fields: Mapping[str, Any], relation: Relation) -> Neighbours:
    request = EnvyFreenessRequest.model_validate(fields)
    each = request.arms_per_person or 1
    everybody = np.arange(3 * request.targets * (request.arms + 1) // each)
    if request.duration_epsilon:
        return _in_a_small_lot(everybody, request)
    if request.cost_epsilon:
        return _of_a_target(everybody, request)
    leaves, comes = _arms(everybody, request)
    before, after = everybody, everybody[everybody != leaves]
    if relation != ADD_REMOVE:
        before = everybody[everybody != comes]
    utilities = _opposed(len(everybody), _drawn(before, request), _drawn(after, request))
    # By everybody: an arm of more lots than they may be in would be envied there too.
    utilities[:, leaves] = 1.0
    return _neighbours(utilities, before, after)


def _drawn(people: Any, request: EnvyFreenessRequest) -> DrawnLots:
    each = request.arms_per_person or 1
    return draw_lots(people, request.targets, request.arms, each, SECRET)


def _arms(people: Any, request: EnvyFreenessRequest) -> list[int]:
    """Two arms of as many lots as they may be in, none of which they share; one is in the first."""
    drawn, found, taken = _drawn(people, request), list[int](), set[int]()
    first = drawn.policies[0, 1:].tolist()
    for person in [*first, *np.setdiff1d(drawn.policies[1:, 1:], first).tolist()]:
        lots = set(drawn.lots[(drawn.policies[:, 1:] == person).any(axis=1)].tolist())
        apart = person not in drawn.targets and not lots & taken
        if apart and len(lots) == (request.arms_per_person or 1):
            found.append(person)
            taken |= lots
    return found[:2]


def _opposed(people: int, before: DrawnLots, after: DrawnLots) -> Any:
    """Nobody likes anything but the recommendations of arms whom they have before and not after."""
    utilities = np.zeros((people, people))
    rows = dict(zip(after.lots.tolist(), after.policies, strict=True))
    for lot, row in zip(before.lots.tolist(), before.policies, strict=True):
        utilities[row[0], np.setdiff1d(row, rows[lot])] = 1.0
    return utilities


def _in_a_small_lot(everybody: Any, request: EnvyFreenessRequest) -> Neighbours:
    """Without one person a lot has too few people to run; its target likes nothing of others'."""
    people, person = everybody, _arms(everybody, request)[0]
    lot = _lot_of(person, people, request)
    for other in everybody[everybody != person].tolist():
        fewer = people[people != other]
        if _lot_of(person, fewer, request) == lot:
            people = fewer
    return _neighbours(np.eye(len(everybody)), people, people[people != person])


def _of_a_target(everybody: Any, request: EnvyFreenessRequest) -> Neighbours:
    """A target who loses by all that they are shown, and who is next in place, who gains by it."""
    leaves = int(_drawn(everybody, request).targets[0])
    others = everybody[everybody != leaves]
    utilities = np.full((len(everybody), len(everybody)), 0.5)
    for target, own in ((leaves, 1.0), (int(_drawn(others, request).targets[0]), 0.0)):
        utilities[target] = np.where(everybody == target, own, 1 - own)
    return _neighbours(utilities, everybody, others)


def _lot_of(person: int, people: Any, request: EnvyFreenessRequest) -> list[int]:
    drawn = _drawn(people, request)
    return [int(lot) for lot in drawn.lots[(drawn.policies[:, 1:] == person).any(axis=1)]]


def _neighbours(utilities: Any, before: Any, after: Any) -> Neighbours:
    one, other = (_world(Recommendations(utilities), people) for people in (before, after))
    return Neighbours(one, other, replicas=1)


def _world(policies: Recommendations, people: Any) -> ExploringWorld:
    names = [f"person{number}" for number in range(len(policies.utilities))]
    there = {f"username:{names[who]}": int(who) for who in people}
    return ExploringWorld(SmallPlatform(there, {}), [[("username", pa.array(names))]], policies)
