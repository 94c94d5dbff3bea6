"""Neighbours for audits of envy: one person more or less, or one who got something else.

Everybody likes their own recommendations and nothing else, unless told. Who is a target, who is an
arm of whom and what the others get is the same on both sides, as if the adversary knew all of it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from api.audits.taking_part import draw_lots, draw_shared
from api.platform import Platform
from openapi.models import EnvyFreenessRequest
from privacy.price import ADD_REMOVE, Relation
from tests.exploring import Notebook, Recommendations
from tests.privacy_audit.neighbours import Neighbours, SmallPlatform, World

SECRET = 5


class Leaving(Recommendations):
    """One person is drawn as a target, and takes no step."""

    def __init__(self, utilities: Any, person: int) -> None:
        super().__init__(utilities)
        self.person = person
        self.asked = 0

    def consenting(self, persons: Any) -> Any:
        self.asked += 1
        return (persons != self.person) | (self.asked == 1)


@dataclass(frozen=True)
class ExploringWorld(World):
    """People are matched as ever; what they get from anybody's recommendations is known."""

    policies: Recommendations

    @property
    def platform(self) -> Platform:
        return Platform("small", self.people, policies=self.policies, journal=Notebook())

    @contextmanager
    def fixed(self) -> Iterator[None]:
        with patch("api.audits.envy_freeness.secrets.randbits", lambda _: SECRET):
            yield


def in_exploring(fields: Mapping[str, Any], relation: Relation) -> Neighbours:
    request = EnvyFreenessRequest.model_validate(fields)
    alike = np.eye(3 * request.targets * (request.arms + 1))
    if request.arms_per_person:
        return _in_lots(alike, request)
    person = _only_a_target(len(alike), request)
    one = _world(Recommendations(alike))
    if relation == ADD_REMOVE:
        return Neighbours(one, _world(Leaving(alike, person)), replicas=1)
    other = alike.copy()
    other[person] = 1 - other[person]
    return Neighbours(one, _world(Recommendations(other)), replicas=1)


def _only_a_target(people: int, request: EnvyFreenessRequest) -> int:
    """Somebody who is nobody's arm: as arms, people are not covered."""
    drawn = draw_shared(np.arange(people), request.targets, request.arms, SECRET)
    return int(np.setdiff1d(drawn.targets, drawn.policies[:, 1:])[0])


def _in_lots(alike: Any, request: EnvyFreenessRequest) -> Neighbours:
    """An arm whom all targets would envy is there, or not."""
    people = np.arange(len(alike))
    drawn = draw_lots(people, request.targets, request.arms, SECRET)
    arm = int(drawn.policies[0, 1])
    envied = alike.copy()
    envied[drawn.targets] = people == arm
    there, gone = (_world(Recommendations(envied), without) for without in (None, arm))
    return Neighbours(there, gone, replicas=1)


def _world(policies: Recommendations, without: int | None = None) -> ExploringWorld:
    names = [f"person{number}" for number in range(len(policies.utilities))]
    there = {f"username:{name}": who for who, name in enumerate(names) if who != without}
    return ExploringWorld(SmallPlatform(there, {}), [[("username", pa.array(names))]], policies)
