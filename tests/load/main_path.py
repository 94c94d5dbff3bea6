"""The main path by HTTP: price, submit, follow, and fetch the release of a small histogram.

An arrival whose first request is shed leaves. One that was admitted goes on: where a later request
is shed it waits as long as `Retry-After` asks and sends it again, as the SDK does.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.load.http import Answer, Socket
from tests.load.researchers import Researcher
from tests.statements import Maker, headers

Outcome = Literal["released", "shed", "gave up", "unanswered", "unexpected"]
# Seconds after which a request counts as unanswered.
PATIENCE = 20.0
_AUDITS = "/v1/audits"
_JSON = {"content-type": "application/json"}


@dataclass
class Arrival:
    """One researcher who wants one audit; times are those of the monotonic clock."""

    outcome: Outcome
    began: float
    ended: float
    detail: str = ""
    shed: list[float] = field(default_factory=list)


class _EndedError(Exception):
    """The arrival ends here, and not with a release."""

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(outcome)
        self.outcome, self.detail = outcome, detail


@dataclass
class Visit:
    """One arrival on its way; `until` is when it stops to retry (monotonic clock)."""

    socket: Socket
    researcher: Researcher
    until: float
    shed: list[float] = field(default_factory=list)

    async def run(self) -> Arrival:
        """Go the whole way, and return how it ended."""
        began = time.monotonic()
        outcome: Outcome = "released"
        detail = ""
        try:
            await self._audit()
        except _EndedError as ended:
            outcome, detail = ended.outcome, ended.detail
        return Arrival(outcome, began, time.monotonic(), detail, self.shed)

    async def _audit(self) -> None:
        body = self.researcher.request.model_dump_json().encode()
        await self._first("POST", f"{_AUDITS}/price", _JSON, body)
        signed = await asyncio.sleep(0, self._signed())
        charged = await self._admitted("POST", _AUDITS, signed | _JSON, body)
        audit = f"{_AUDITS}/{json.loads(charged.body)['id']}"
        await self._followed(audit)
        await self._admitted("GET", f"{audit}/release")

    def _signed(self) -> dict[str, str]:
        who = self.researcher
        maker = Maker(who.id, who.key, who.origin)
        return headers(maker.states("charge", who.request))

    async def _followed(self, audit: str) -> None:
        """Read the events until the audit is released; a stream that broke is opened again."""
        while True:
            events = await self._admitted("GET", f"{audit}/events", streams=True)
            last = events.body.rpartition(b"data:")[2]
            if b"released" in last:
                return
            if b"failed" in last or b"cancelled" in last:
                raise _EndedError("unexpected", f"the audit ended: {last.decode()}")

    async def _first(self, method: str, path: str, extra: Mapping[str, str], body: bytes) -> Answer:
        answer = await self._ask(method, path, extra, body)
        if answer.is_shed:
            raise _EndedError("shed")
        return answer

    async def _admitted(
        self,
        method: str,
        path: str,
        extra: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        streams: bool = False,
    ) -> Answer:
        while True:
            answer = await self._ask(method, path, extra, body, streams=streams)
            if not answer.is_shed:
                return answer
            if time.monotonic() + answer.retry_after > self.until:
                raise _EndedError("gave up")
            await asyncio.sleep(answer.retry_after)

    async def _ask(
        self,
        method: str,
        path: str,
        extra: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        streams: bool = False,
    ) -> Answer:
        given = self.researcher.authorization | dict(extra or {})
        answer = await self.socket.ask(method, path, given, body, within=PATIENCE)
        if answer.is_shed:
            self.shed.append(answer.seconds)
        elif streams and answer.status == 0 and answer.headers:
            raise _EndedError("gave up", "the audit was not released in time")
        elif answer.status == 0:
            raise _EndedError("unanswered", f"{method} {path}: {answer.body.decode()}")
        elif not 200 <= answer.status < 300:
            raise _EndedError("unexpected", f"{method} {path}: {answer.status} {answer.body!r}")
        return answer


async def go(url: str, researcher: Researcher, until: float) -> Arrival:
    """One arrival on a connection of its own."""
    async with Socket(url) as socket:
        return await Visit(socket, researcher, until).run()
