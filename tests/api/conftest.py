"""A migrated database on either system, and the examples of Hypothesis the same every time."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

from api.db import Store
from tests.databases import prepare

settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="module")
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    """A store with every table and nothing in them, shared by the tests of a module."""
    made = Store(new_database())
    prepare(made)
    yield made
    made.close()
