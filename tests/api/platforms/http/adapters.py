"""Adapters on a socket, good and bad."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.types import ASGIApp

from api.platforms.http import HttpPlatform, served
from api.platforms.interfaces import Platform
from tests.world import free_port, listening

T = TypeVar("T")
NOON: dict[str, str | float] = {"hour": 12.0, "device": "phone"}
# Nobody waits in a test.
IMPATIENT: dict[str, Any] = {"attempts": 2, "first_pause": 0.01, "rest_seconds": 0.2}


@contextmanager
def over_http(platform: Platform, **options: Any) -> Iterator[HttpPlatform]:
    """The same platform, with a line between."""
    with hosted(served(platform)) as url, connected(url, **options) as far:
        yield far


@contextmanager
def connected(url: str, **options: Any) -> Iterator[HttpPlatform]:
    far = HttpPlatform.at(url, **(IMPATIENT | options))
    try:
        yield far
    finally:
        far.close()


def there(capability: T | None) -> T:
    assert capability is not None
    return capability


@contextmanager
def hosted(app: ASGIApp, **options: Any) -> Iterator[str]:
    port = free_port()
    with listening(app, port, **options):
        yield f"http://127.0.0.1:{port}"


def altered(app: ASGIApp, alter: Callable[[str, bytes], bytes | None]) -> ASGIApp:
    """The same application, whose answers to calls are altered: `None` to break the connection."""

    async def altering(scope: Any, receive: Any, send: Any) -> None:
        async def sending(message: Any) -> None:
            if message["type"] == "http.response.body":
                body = alter(scope["path"], message.get("body", b""))
                if body is None:
                    raise ConnectionError("cut")
                message = {**message, "body": body}
            await send(message)

        await app(scope, receive, sending)

    return altering
