"""A small HTTP/1.1 client for load: one socket, no pool, no retry, every answer timed.

A library's client would cost the generators several times the processor time, and would hide which
socket got no answer.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_REFUSED, _UNAVAILABLE = 429, 503


@dataclass(frozen=True)
class Answer:
    """The answer to one request; status 0 if it was not complete, with the reason as its body.

    It has headers if at least these came.
    """

    status: int
    seconds: float
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_shed(self) -> bool:
        """Deliberate shedding: the service says when to come back, and that it is overloaded.

        A database that does not answer is a 503 with `Retry-After` too, and is no shedding.
        """
        if "retry-after" not in self.headers:
            return False
        return self.status == _REFUSED or (
            self.status == _UNAVAILABLE and self._reason == "overload"
        )

    @property
    def _reason(self) -> object:
        """The reason in the problem document."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return None
        return found.get("reason") if isinstance(found, dict) else None

    @property
    def retry_after(self) -> float:
        """Seconds that the service asks to wait (at least 1)."""
        value = self.headers.get("retry-after", "")
        return max(1.0, float(value)) if value.isdecimal() else 1.0


class Socket:
    """One connection to the service, for requests one after the other."""

    def __init__(self, url: str, source: str | None = None) -> None:
        where = urlsplit(url)
        self._host, self._port = where.hostname or "", where.port or 80
        self._source = (source, 0) if source else None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        within: float,
    ) -> Answer:
        """Send one request and read its whole answer within this time (seconds)."""
        began, fields = time.monotonic(), dict[str, str]()
        try:
            async with asyncio.timeout(within):
                reader = await self._send(method, path, headers or {}, body)
                status, found = _head(await reader.readuntil(b"\r\n\r\n"))
                fields |= found
                content = await _content(reader, fields)
        except (TimeoutError, OSError, EOFError, ValueError) as error:
            self.close()
            return Answer(0, time.monotonic() - began, fields, repr(error).encode())
        if fields.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, time.monotonic() - began, fields, content)

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> asyncio.StreamReader:
        reader, writer = await self.connect()
        lines = [f"{method} {path} HTTP/1.1", f"host: {self._host}:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method == "POST":
            lines.append(f"content-length: {len(body)}")
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        return reader

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the open streams; connect first if there are none."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                self._host, self._port, local_addr=self._source
            )
        return self._reader, self._writer

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *rest = head.decode("latin-1").split("\r\n")
    fields = dict(line.split(":", 1) for line in rest if line)
    return int(first.split(" ", 2)[1]), {n.lower(): v.strip() for n, v in fields.items()}


async def _content(reader: asyncio.StreamReader, fields: Mapping[str, str]) -> bytes:
    if fields.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    if "content-length" in fields:
        return await reader.readexactly(int(fields["content-length"]))
    return b"" if fields.get("connection", "").lower() != "close" else await reader.read()


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    found = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        found.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return b"".join(found)
