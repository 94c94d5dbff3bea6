"""The root of the service: browsers are led to the console, programs find nothing."""

import asyncio
from pathlib import Path

import httpx2
import pytest

from api.app.app import create_app
from api.app.container import build_container
from api.platforms.interfaces import Platform
from api.web.problem_responses import MEDIA_TYPE
from tests.world import Deployment, make_settings, sqlite_url

# What browsers send when somebody types an address.
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def test_a_browser_arrives_at_the_console(sqlite_deployment: Deployment) -> None:
    with httpx2.Client(base_url=sqlite_deployment.url, headers=BROWSER) as http:
        first = http.get("/")
        assert first.status_code == 303
        assert first.headers["vary"] == "Accept"
        page = http.get("/", follow_redirects=True)
    assert page.url.path == "/console"
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
def test_a_program_finds_nothing(sqlite_deployment: Deployment, accept: str) -> None:
    answer = httpx2.get(f"{sqlite_deployment.url}/", headers={"Accept": accept})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.json()["type"].endswith("not-found")


@pytest.mark.parametrize(
    ("issuer", "console", "leads_to"),
    [
        ("https://platform.example", True, "/console"),
        ("https://platform.example/audit", True, "/audit/console"),
        ("https://platform.example/audit", False, None),
    ],
)
def test_the_root_follows_the_public_address(
    platform: Platform, tmp_path: Path, issuer: str, console: bool, leads_to: str | None
) -> None:
    settings = make_settings(sqlite_url(tmp_path), issuer, console=console)
    service = build_container(settings, platform)
    transport = httpx2.ASGITransport(create_app(service))

    async def ask() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=transport, base_url=issuer) as client:
            return await client.get("https://platform.example/", headers=BROWSER)

    answer = asyncio.run(ask())
    assert answer.headers.get("location") == leads_to
    assert answer.status_code == (303 if leads_to else 404)
