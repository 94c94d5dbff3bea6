"""The console's origin: no script from elsewhere, no reflected host, cookies bound to the host."""

from http.cookies import SimpleCookie

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response

from api.console.security.cookies import Cookies
from tests.world import Deployment, make_settings


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
def test_no_page_loads_scripts_from_elsewhere(sqlite_deployment: Deployment, path: str) -> None:
    assert httpx2.get(sqlite_deployment.url + path).status_code == 404


@pytest.mark.parametrize("path", ["/v1/audits/", "/healthz/", "/console/plan/", "/console/"])
def test_no_answer_repeats_the_host_of_the_request(
    sqlite_deployment: Deployment, path: str
) -> None:
    answer = httpx2.get(sqlite_deployment.url + path, headers={"host": "evil.example"})
    assert "evil.example" not in answer.text
    assert "evil.example" not in str(answer.headers)


def test_cookies_over_tls_are_bound_to_the_host() -> None:
    cookies = Cookies.from_settings(make_settings("sqlite://", "https://audit.example/platform"))
    answer = Response()
    cookies.write(answer, "session", "secret", 60)
    cookie = SimpleCookie(answer.headers["set-cookie"])["__Host-console_session"]
    # All that a browser asks of the prefix.
    assert (cookie["secure"], cookie["path"], cookie["domain"]) == (True, "/", "")
    sent = [(b"cookie", f"__Host-console_session={cookie.value}".encode())]
    assert cookies.read(Request({"type": "http", "headers": sent}), "session") == "secret"
    # Another host of the domain can set the bare name only, which is not read.
    planted = [(b"cookie", f"console_session={cookie.value}".encode())]
    assert cookies.read(Request({"type": "http", "headers": planted}), "session") is None
