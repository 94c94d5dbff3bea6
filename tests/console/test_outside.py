"""Signing in at an outside identity provider, and whom it does not let in."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from joserfc.jwk import OKPKey
from playwright.sync_api import Browser, expect

from api.accounts.service import register_researcher
from api.app.container import build_container
from api.db import Store
from api.kernel.settings import OutsideIssuer, SignIn
from api.platforms.interfaces import Platform
from openapi.resources import Personal, ResearcherDraft
from tests.console.browsing import watching
from tests.console.provider import CLIENT, SECRET, Provider, providing
from tests.databases import prepare
from tests.world import free_port, make_settings, serving, sqlite_url


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    port = free_port()
    made = Provider(f"http://127.0.0.1:{port}/console/sign-in/outside")
    with providing(made):
        yield made


@pytest.fixture(scope="module")
def url(
    provider: Provider, platform: Platform, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A service that sends people to the provider, and knows Eve by her subject there."""
    port = urlsplit(provider.redirect).port
    assert port is not None
    sign_in = SignIn(
        authorization_url=f"{provider.url}/authorize",
        token_url=f"{provider.url}/token",
        client_id=CLIENT,
        client_secret=SECRET,
    )
    issuer = OutsideIssuer(
        issuer=provider.url, audience="api", jwks_url=f"{provider.url}/jwks", sign_in=sign_in
    )
    database = sqlite_url(tmp_path_factory.mktemp("outside"))
    own = f"http://127.0.0.1:{port}"
    settings = make_settings(database, own, outside_issuer=issuer)
    store = Store(database)
    prepare(store)
    eve = ResearcherDraft(
        name=Personal.fresh("Eve"), role="regulator", outside_subject="eve@institute"
    )
    with store.write() as session:
        register_researcher(session, eve, None)
    store.close()
    with serving(build_container(settings, platform), port):
        yield own


def test_one_comes_in_by_the_provider(browser: Browser, url: str) -> None:
    with watching(browser, url) as watched:
        page = watched.open("/sign-in")
        watched.accessible()
        page.get_by_role("link", name="Sign in at 127.0.0.1").click()
        expect(page.get_by_text("Eve, regulator")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in").first).to_be_visible()


def visit(url: str, provider: Provider, **claims: Any) -> httpx2.Response:
    """The way there and back, with an ID token that says this."""
    provider.claims = claims
    with httpx2.Client(headers={"Accept": "text/html"}) as http:
        there = http.get(f"{url}/console/sign-in/outside/begin").headers["location"]
        return http.get(httpx2.get(there).headers["location"])


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"sub": "mallory@institute"},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    url: str, provider: Provider, claims: dict[str, Any]
) -> None:
    refused = visit(url, provider, **claims)
    assert refused.status_code == 401
    assert "console_session" not in refused.headers.get("set-cookie", "")


def test_a_token_of_another_key_is_refused(url: str, provider: Provider) -> None:
    provider.forger = OKPKey.generate_key("Ed25519")
    assert visit(url, provider).status_code == 401
    provider.forger = None
    assert visit(url, provider).status_code == 303


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(
    url: str, provider: Provider
) -> None:
    provider.claims = {}
    with httpx2.Client(headers={"Accept": "text/html"}) as eve:
        there = eve.get(f"{url}/console/sign-in/outside/begin").headers["location"]
        back = httpx2.get(there).headers["location"]
    with httpx2.Client(headers={"Accept": "text/html"}) as other:
        assert other.get(back).status_code == 401  # it asked for nothing
        other.get(f"{url}/console/sign-in/outside/begin")
        assert other.get(back).status_code == 401  # it asked for something else
        strange = back.replace("state=", "state=%C3%A9")
        assert other.get(strange).status_code == 401
