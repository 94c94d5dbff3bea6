"""Fixtures of the SDK's tests: a home of their own, and a scripted service on a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.auditor_client.scripted import ScriptedService


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep tests from the profiles of the user who runs them."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PLATFORM_AUDITOR_HOME", str(folder))
    monkeypatch.delenv("PLATFORM_AUDITOR_PROFILE", raising=False)
    return folder


@pytest.fixture
def service() -> Iterator[ScriptedService]:
    with ScriptedService() as running:
        yield running
