"""Connections of clients: few enough for the limit of open files, and none that waits for ever.

uvicorn closes an idle connection between two requests. It has no limit on the time that headers
take to arrive, or that a client takes to read its answer. `LimitedProtocol` adds both. When there
are too many connections, it drops the one that has kept the server waiting for the longest.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.metrics import DROPPED_CONNECTIONS


class LimitedProtocol(H11Protocol):
    """An HTTP/1.1 connection with deadlines. `limited` sets the class's own."""

    header_seconds: float
    answer_seconds: float
    most_connections: int

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._header_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self.waiting_since = self.loop.time()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        most = self.most_connections
        if len(self.connections) > most and len(live := _live(self)) > most:
            _slowest(self, live).drop("connections")
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._request_arrived():
            self._cancel_header_timer()
        elif self._header_timer is None:
            self._await_headers()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.waiting_since = self.loop.time()

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered."""
        super().pause_writing()
        if self._answer_timer is None:
            self._answer_timer = self.loop.call_later(self.answer_seconds, self.drop, "answer")

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None

    @property
    def keeps_waiting(self) -> bool:
        """Whether the server waits for this client, for headers or for a body."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def drop(self, reason: str) -> None:
        """Close the connection at once, without an answer."""
        DROPPED_CONNECTIONS.labels(reason).inc()
        self.transport.abort()

    def _request_arrived(self) -> bool:
        return self.conn.their_state is not h11.IDLE

    def _await_headers(self) -> None:
        self.waiting_since = self.loop.time()
        self._header_timer = self.loop.call_later(self.header_seconds, self.drop, "headers")

    def _cancel_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _cancel_timers(self) -> None:
        self._cancel_header_timer()
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None


def limited(header_seconds: float, answer_seconds: float, most: int) -> type[LimitedProtocol]:
    """Return the protocol with these limits."""
    limits = {
        "header_seconds": header_seconds,
        "answer_seconds": answer_seconds,
        "most_connections": most,
    }
    return type("Protocol", (LimitedProtocol,), limits)


def _live(newest: LimitedProtocol) -> list[LimitedProtocol]:
    """Return all connections but those that were dropped and are not closed yet."""
    all_of_them = (each for each in newest.connections if isinstance(each, LimitedProtocol))
    return [each for each in all_of_them if not each.transport.is_closing()]


def _slowest(newest: LimitedProtocol, live: list[LimitedProtocol]) -> LimitedProtocol:
    """Return the connection that has kept the server waiting for the longest."""
    waiting = (each for each in live if each is not newest and each.keeps_waiting)
    return min(waiting, key=lambda each: each.waiting_since, default=newest)
