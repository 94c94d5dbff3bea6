"""Fixtures of the system tests."""

from collections.abc import Callable, Iterator

import pytest

from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform, World
from tests.system.scene import Scene, set_scene
from tests.world import Deployment, deployed


@pytest.fixture(scope="session")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world


@pytest.fixture(scope="module")
def scene(deployment: Deployment, world: World) -> Scene:
    """On either database."""
    return set_scene(deployment, world)


@pytest.fixture(scope="module")
def idle(new_database: Callable[[], str], platform: Platform) -> Iterator[Deployment]:
    """A service without a worker: an audit stays charged until a test runs or claims it."""
    # Half of the threads may write at a time, and tests let up to six audits be charged together.
    settings = {"embedded_worker": False, "request_threads": 12}
    with deployed(new_database(), platform, **settings) as running:
        yield running
