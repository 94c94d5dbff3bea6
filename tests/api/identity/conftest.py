from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.identity.people import Person, register
from tests.api.identity.service import Service, running


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path / "service.db") as service:
        yield service


@pytest.fixture
def ada(service: Service) -> Person:
    """An auditor's researcher with an Ed25519 key."""
    return register(service)
