"""Worlds and platforms that tests share; making one takes most of a second."""

from collections.abc import Mapping

import pytest

from platform_sim import SimulatedPlatform, biased_platform, fair_platform


@pytest.fixture(scope="session")
def fair() -> SimulatedPlatform:
    return fair_platform()


@pytest.fixture(scope="session")
def biased() -> SimulatedPlatform:
    return biased_platform()


@pytest.fixture(scope="session")
def ordinary() -> SimulatedPlatform:
    """No bias put in, but people's groups show in what the model sees."""
    return SimulatedPlatform.from_seed(1)


@pytest.fixture(scope="session")
def noon(fair: SimulatedPlatform) -> Mapping[str, str | float]:
    """The default context."""
    return {name: values[0] for name, values in fair.context.items()}
