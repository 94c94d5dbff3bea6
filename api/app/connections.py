"""Client connections: few enough for the limit of open files, and with a deadline for each wait.

uvicorn closes an idle connection between two requests. It does not limit three other times: the
arrival of the headers, the arrival of the rest of an unread body, and the reading of an answer.
`LimitedProtocol` adds these limits. If there are too many connections, it drops the one that has
kept the server waiting for the longest. It does the same if too many answers wait for their
readers. A request that is shed is answered here, before it is parsed (`api.app.early_shedding`).
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from api.app.early_shedding import EarlyShedding
from api.telemetry.metrics import DROPPED_CONNECTIONS

# A paused answer resumes when the client has read 48 KiB of it: asyncio's two marks are 64 and 16.
# Reading them earns the client the time that they take at 16 KiB/s, the lowest rate of an answer.
_EARNED_SECONDS = 3.0
# Maximum number of answers that wait for their readers. Each may keep some hundred KiB in memory.
MOST_UNREAD = 256


class LimitedProtocol(H11Protocol):
    """An HTTP/1.1 connection with deadlines; `limited_protocol` sets the class attributes."""

    header_seconds: float
    answer_seconds: float
    most_connections: int
    most_unread: int
    # Connections whose answer waits for its reader, the longest wait first.
    unread: "dict[LimitedProtocol, float]"
    early: EarlyShedding

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._header_timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._answer_left = self.answer_seconds
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
        if self._is_idle and (answer := self.early.answer(data, self._host)) is not None:
            return self._refuse(*answer)
        super().data_received(data)
        if self.sends_body:
            self.waiting_since = self.loop.time()
        self._watch_headers()
        return None

    @property
    def _is_idle(self) -> bool:
        """Whether the next byte begins a request whose answer can be sent at once."""
        conn = self.conn
        idle = conn.their_state is h11.IDLE and conn.our_state is h11.IDLE
        return idle and not (conn.trailing_data[0] or self.flow.write_paused)

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else "unknown"

    def _refuse(self, first: bytes, rest: bytes) -> None:
        """Send the refusal of a request that is shed; the connection is idle again."""
        date = b"".join(b"%s: %s\r\n" % each for each in self.server_state.default_headers)
        self.transport.write(first + date + rest)
        self.server_state.total_requests += 1
        self._cancel_header_timer()
        self._unset_keepalive_if_required()
        self.waiting_since = self.loop.time()
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._answer_left = self.answer_seconds
        self.waiting_since = self.loop.time()
        # An idle connection has uvicorn's timer, which the rest of an unread body would stop.
        if self.sends_body:
            self._watch_headers()

    def pause_writing(self) -> None:
        """Start the deadline of the answer, because the client reads it too slowly."""
        super().pause_writing()
        self.unread[self] = self.loop.time()
        self._answer_timer = self.loop.call_later(self._answer_left, self.drop, "answer")
        if len(self.unread) > self.most_unread:
            next(iter(self.unread)).drop("unread")

    def resume_writing(self) -> None:
        """Subtract the client's time from the time left, and add what it earned by reading."""
        super().resume_writing()
        paused = self.unread.get(self, self.loop.time())
        left = self._answer_left - (self.loop.time() - paused) + _EARNED_SECONDS
        self._answer_left = min(self.answer_seconds, left)
        self._cancel_answer_timer()

    @property
    def sends_body(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    @property
    def keeps_waiting(self) -> bool:
        """Whether the server waits for this client, for headers or for a body."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def drop(self, reason: str) -> None:
        """Close the connection at once, without an answer."""
        DROPPED_CONNECTIONS.labels(reason).inc()
        self.unread.pop(self, None)
        self.transport.abort()

    def _watch_headers(self) -> None:
        """Limit the time until the next request has arrived, if none is being answered."""
        answered = self.cycle is not None and self.cycle.response_complete
        if self.conn.their_state is not h11.IDLE and not (answered and self.sends_body):
            self._cancel_header_timer()
        elif self._header_timer is None:
            self._await_headers()

    def _await_headers(self) -> None:
        self.waiting_since = self.loop.time()
        self._header_timer = self.loop.call_later(self.header_seconds, self.drop, "headers")

    def _cancel_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _cancel_timers(self) -> None:
        self._cancel_header_timer()
        self._cancel_answer_timer()

    def _cancel_answer_timer(self) -> None:
        self.unread.pop(self, None)
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None


def limited_protocol(
    header_seconds: float,
    answer_seconds: float,
    most: int,
    unread: int = MOST_UNREAD,
    early: EarlyShedding | None = None,
) -> type[LimitedProtocol]:
    """Return the protocol class with these limits."""
    limits: dict[str, Any] = {
        "header_seconds": header_seconds,
        "answer_seconds": answer_seconds,
        "most_connections": most,
        "most_unread": unread,
        "unread": {},
        "early": early or EarlyShedding(),
    }
    return type("Protocol", (LimitedProtocol,), limits)


def _live(newest: LimitedProtocol) -> list[LimitedProtocol]:
    """Return all connections except those that were dropped and are not closed yet."""
    all_of_them = (each for each in newest.connections if isinstance(each, LimitedProtocol))
    return [each for each in all_of_them if not each.transport.is_closing()]


def _slowest(newest: LimitedProtocol, live: list[LimitedProtocol]) -> LimitedProtocol:
    """Return the connection that has kept the server waiting for the longest.

    Idle ones and those without a complete request come first, then those whose body arrives.
    """
    waiting = (each for each in live if each is not newest and each.keeps_waiting)
    return min(waiting, key=lambda each: (each.sends_body, each.waiting_since), default=newest)
