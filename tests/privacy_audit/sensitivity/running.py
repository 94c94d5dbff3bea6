"""One world through the platform half of a built-in kind, which may explore."""

from dataclasses import replace
from typing import Any

import numpy as np

from api.kinds.context import AuditContext, in_process_context
from api.operations.sensitivity import running
from api.operations.sensitivity.people import PeopleWorld
from api.platforms.interfaces import Platform
from tests.exploring import Notebook, Recommendations


class Tastes(Recommendations):
    """Policies with people's rewards from anybody's recommendations."""

    def __init__(self, world: PeopleWorld) -> None:
        super().__init__(np.empty((0, 0)))
        self.world = world

    def consenting(self, persons: Any) -> Any:
        return np.array([self.world.people[who].consents for who in persons.tolist()], bool)

    def utility(self, targets: Any, arms: Any) -> Any:
        pairs = zip(targets.tolist(), arms.tolist(), strict=True)
        return np.array([self._worth(target, arm) for target, arm in pairs])

    def _worth(self, target: int, arm: int) -> float:
        liked = self.world.people[arm].liked
        return self.world.people[target].likes[arm] if liked is None else liked[target]


def platform_of(world: PeopleWorld) -> Platform:
    """All capabilities, of one small world."""
    return replace(running.platform_of(world), policies=Tastes(world))


def context_of(world: PeopleWorld) -> AuditContext:
    """Return the platform of a world, with the balances of its people."""
    return in_process_context(platform_of(world), balances=world, journal=Notebook())
