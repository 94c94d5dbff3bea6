from collections.abc import Callable, Iterator

import pytest

from tests.durability.processes import Host, hosted


@pytest.fixture
def host(
    new_database: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Host]:
    """A deployment on either database; nothing runs yet."""
    with hosted(tmp_path_factory.mktemp("host"), new_database()) as host:
        yield host


@pytest.fixture
def served(host: Host) -> Iterator[Host]:
    """The same, with its API in this process."""
    with host.serving():
        yield host
