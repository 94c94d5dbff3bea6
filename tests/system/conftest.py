"""What the system tests share."""

import pytest

from api.platform import Platform
from platform_sim import SimulatedPlatform, World
from tests.system.scene import Scene, set_scene
from tests.world import Deployment


@pytest.fixture(scope="session")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world


@pytest.fixture(scope="module")
def scene(deployment: Deployment, world: World) -> Scene:
    """On either database."""
    return set_scene(deployment, world)
