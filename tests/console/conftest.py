"""One browser, one running service, and the people who use its console."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from api.platforms.interfaces import Platform
from platform_sim import SimulatedPlatform, World
from tests.console.browsing import CHROMIUM, Watched, watching
from tests.world import Deployment


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, without which nothing of this is tested: in CI that is a failure."""
    if not CHROMIUM.exists() and not os.environ.get("CI"):
        pytest.skip(f"no browser at {CHROMIUM}: run make browser, or set CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture
def visitor(browser: Browser, sqlite_deployment: Deployment) -> Iterator[Watched]:
    """Somebody who is not signed in."""
    with watching(browser, sqlite_deployment.url) as watched:
        yield watched


@pytest.fixture(scope="session")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world
