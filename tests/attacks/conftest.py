"""A service to attack: on a socket, with audits that run when the test says so."""

from collections.abc import Iterator

import pytest

from api.kernel.hard_limits import PERSON_LIFETIME_RHO
from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform, World
from tests.system.adapters import Watched, on
from tests.world import Deployment, deployed, sqlite_url

# What a deployment has, but for the worker and the rate; other tests have people who bear more.
REAL = {
    "person_lifetime_rho": int(PERSON_LIFETIME_RHO),
    "requests_per_minute": 1_000_000,
    "burst": 1_000_000,
    "embedded_worker": False,
}


@pytest.fixture(scope="session")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world


@pytest.fixture(scope="module")
def watched(platform: Platform) -> Watched:
    """The model, and whom it was asked about: what the attacked platform sees."""
    assert platform.scores is not None
    return Watched(platform.scores)


@pytest.fixture(scope="module")
def target(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, watched: Watched
) -> Iterator[Deployment]:
    """A service without a worker of its own."""
    url = sqlite_url(tmp_path_factory.mktemp("target"))
    with deployed(url, on(platform, watched), **REAL) as running:
        yield running
