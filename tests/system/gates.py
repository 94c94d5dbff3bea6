"""A gate in front of a real service: it stops one request at a chosen moment, or loses its answer.

It stands for the network between a client and the service. Everything behind it is real.
"""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app.app import create_app
from tests.world import Deployment, free_port, listening

Where = Literal["before", "after"]


@dataclass
class Stop:
    """Requests that match are stopped before the service sees them, or after it has answered.

    The first `let` of them pass.
    """

    method: str
    path: str
    where: Where
    let: int = 0
    losing: bool = False
    reached: threading.Event = field(default_factory=threading.Event)
    lifted: threading.Event = field(default_factory=threading.Event)

    def matches(self, scope: Scope) -> bool:
        fits = (
            not self.lifted.is_set()
            and scope["type"] == "http"
            and scope["method"] == self.method
            and re.fullmatch(self.path, scope["path"]) is not None
        )
        if fits and self.let > 0:
            self.let -= 1
            return False
        return fits

    async def hold(self) -> None:
        """Wait until the stop is lifted. The request is lost then, as if the network failed."""
        self.reached.set()
        while not (self.losing or self.lifted.is_set()):
            await asyncio.sleep(0.01)


class Gate:
    """The service as clients see it through this gate."""

    def __init__(self, app: ASGIApp, url: str) -> None:
        self._app, self.url = app, url
        self._stop: Stop | None = None
        self.seen: list[tuple[str, str]] = []

    def stop(self, method: str, path: str, where: Where = "before", let: int = 0) -> Stop:
        """Hold matching requests from now on, until `lift`."""
        self._stop = Stop(method, path, where, let)
        return self._stop

    def lose(self, method: str, path: str, where: Where = "before", let: int = 0) -> None:
        """Answer matching requests with 502 from now on, until `lift`."""
        self.stop(method, path, where, let).losing = True

    def lift(self) -> None:
        if self._stop is not None:
            self._stop.lifted.set()
        self._stop = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stop = self._stop
        if scope["type"] == "http":
            self.seen.append((scope["method"], scope["path"]))
        if stop is None or not stop.matches(scope):
            await self._app(scope, receive, send)
            return
        if stop.where == "after":
            await self._app(scope, receive, _nowhere)
        await stop.hold()
        await send({"type": "http.response.start", "status": 502, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def _nowhere(_: Message) -> None:
    """Lose an answer."""


@contextmanager
def gated(deployment: Deployment) -> Iterator[Gate]:
    """Serve a deployment through a gate, at an address of its own."""
    port = free_port()
    gate = Gate(create_app(deployment.service), f"http://127.0.0.1:{port}")
    with listening(gate, port, lifespan="off"):
        try:
            yield gate
        finally:
            gate.lift()
