"""Requests to an ASGI application without a server: what arrives, and what is answered."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Scope


@dataclass
class Request:
    """One request whose body arrives when the test says so, and whose answer is read then."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    network: str = "192.0.2.1"
    reads: bool = True
    arriving: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    answered: list[Message] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, body: bytes, *, more: bool = False) -> "Request":
        self.arriving.put_nowait({"type": "http.request", "body": body, "more_body": more})
        return self

    @property
    def status(self) -> int:
        return int(self.answered[0]["status"])

    @property
    def scope(self) -> Scope:
        return {
            "type": "http",
            "method": self.method,
            "path": self.path,
            "query_string": b"",
            "headers": [(key.encode(), value.encode()) for key, value in self.headers.items()],
            "client": (self.network, 1),
        }

    async def to(self, app: ASGIApp) -> int:
        """Be served by an application, and return the status."""

        async def send(message: Message) -> None:
            self.answered.append(message)
            self.began.set()
            if not self.reads:
                await self.may_end.wait()

        await app(self.scope, self.arriving.get, send)
        return self.status


def started(request: Request, app: ASGIApp) -> asyncio.Task[int]:
    return asyncio.create_task(request.to(app))


async def settle() -> None:
    """Let all tasks run until each waits for something."""
    for _ in range(20):
        await asyncio.sleep(0.005)


def announced(length: int, **headers: str) -> dict[str, Any]:
    return {"content-length": str(length), **headers}
