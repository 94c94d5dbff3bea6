"""Strangers behind a reverse proxy: each has a rate of their own, if the proxy is trusted."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn
from pydantic import ValidationError

from api.app.container import Container
from api.app.server import make_server_config
from api.platforms.interfaces import Platform
from tests.statements import A_FORM
from tests.vetting import draft_of, new_key
from tests.world import deployed, free_port, make_settings, sqlite_url

# The address of a proxy that is not on 127.0.0.1: Linux has all of 127/8 on its loopback device.
PROXY = "127.0.0.2"


@contextmanager
def served(service: Container) -> Iterator[str]:
    """The service with the configuration of `platform-auditor serve`."""
    port = free_port()
    config = make_server_config(service, "127.0.0.1", port)
    config.lifespan = "off"  # the deployment began the service's work already
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def statuses(url: str, proxy: str) -> list[int]:
    """Send an unsigned application of each of three strangers through one proxy."""
    headers = {"Idempotency-Key": "k" * 16, "Statement-Signature": A_FORM}
    body = draft_of(new_key()).model_dump(mode="json")
    transport = httpx2.HTTPTransport(local_address=proxy)
    with httpx2.Client(transport=transport, base_url=url, headers=headers) as http:
        return [
            http.post(
                "/v1/applications", json=body, headers={"X-Forwarded-For": f"203.0.113.{stranger}"}
            ).status_code
            for stranger in range(3)
        ]


@pytest.mark.parametrize(
    ("trusted", "proxy", "apart"),
    [
        (None, "127.0.0.1", True),
        (None, PROXY, False),
        ([PROXY], PROXY, True),
        (["127.0.0.0/30"], PROXY, True),
        ([PROXY], "127.0.0.1", False),
    ],
)
def test_only_a_trusted_proxy_says_who_a_stranger_is(
    tmp_path: Path, platform: Platform, trusted: list[str] | None, proxy: str, apart: bool
) -> None:
    url = sqlite_url(tmp_path)
    options = {} if trusted is None else {"trusted_proxies": trusted}
    with (
        deployed(url, platform, applications_per_hour=1, **options) as running,
        served(running.service) as address,
    ):
        found = statuses(address, proxy)
    assert found[0] in (400, 422)  # not signed
    assert found[1:] == ([found[0]] * 2 if apart else [429] * 2)


@pytest.mark.parametrize("proxy", ["*", "0.0.0.0/0", "::/0", "proxy.example", ""])
def test_nobody_may_trust_everybody(proxy: str) -> None:
    with pytest.raises(ValidationError):
        make_settings("sqlite://", "https://audit.example", trusted_proxies=[proxy])
