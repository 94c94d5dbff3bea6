"""Refusals of overload before a request is parsed: a flood costs little of the event loop.

The loop that refuses requests also serves those that were admitted. To parse a request, to pass it
through the application and to encode its refusal takes ten times as long as to see that its class
has no slot left. So the connection asks here first. A request is refused here only if it arrived
whole, is alone on its connection, and would be refused at the gate whoever sends it. Everything
else takes the usual way. Nothing is decided here: the gate says which classes are shed.

Refusals are counted one by one in the metrics, and logged once a second.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from api.app.admission import overloaded
from api.app.callers import Credential
from api.telemetry.metrics import REQUESTS
from api.web.problem_responses import respond

# Bytes of a request that is looked at here; larger ones take the usual way.
_LARGEST = 16_384
_LOG_SECONDS = 1.0
# No escapes: the path is what the application would see.
_REQUEST_LINE = re.compile(rb"(GET|POST|PUT|DELETE) (/[\w.~/-]*)(?:\?[!-~]*)? HTTP/1\.1", re.ASCII)
_WATCHED = frozenset(
    {
        b"authorization",
        b"connection",
        b"content-length",
        b"cookie",
        b"expect",
        b"transfer-encoding",
        b"upgrade",
    }
)
# With these a connection is not as it seems, or the caller is not told by a token.
_UNUSUAL = _WATCHED - {b"authorization", b"connection", b"content-length"}


log = logging.getLogger("api.access")


@dataclass(frozen=True)
class WholeRequest:
    """What the gate needs to know of a request that arrived whole."""

    method: str
    path: str
    credential: Credential | None


# The class of a request that is shed now whoever sends it; None if it may be served.
Judge = Callable[[WholeRequest], str | None]


@dataclass
class EarlyShedding:
    """Refusals of one process. Used by its event loop alone; the gate sets `judge`."""

    judge: Judge = lambda _: None
    is_busy: Callable[[], bool] = lambda: False
    _unlogged: Counter[str] = field(default_factory=Counter)

    def refusal(self, data: bytes) -> bytes | None:
        """Return the answer to a request that is shed, without its first line; None otherwise."""
        if not self.is_busy():
            return None
        request = read_whole(data)
        name = None if request is None else self.judge(request)
        if request is None or name is None:
            return None
        REQUESTS.labels("ANY", "unmatched", "503").inc()
        self._log_soon(name)
        return _encoded(request.path)

    def _log_soon(self, name: str) -> None:
        if not self._unlogged:
            asyncio.get_running_loop().call_later(_LOG_SECONDS, self._log)
        self._unlogged[name] += 1

    def _log(self) -> None:
        for name, number in self._unlogged.items():
            log.info("requests.shed", extra={"class": name, "requests": number})
        self._unlogged.clear()


def read_whole(data: bytes) -> WholeRequest | None:
    """Return the request that these bytes are, if they are exactly one that is plain."""
    head, found, body = data.partition(b"\r\n\r\n") if len(data) <= _LARGEST else (b"", b"", b"")
    first, *lines = head.split(b"\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    fields = _fields(lines)
    if not found or line is None or fields is None:
        return None
    length = fields.get(b"content-length", b"0")
    kept = fields.get(b"connection", b"keep-alive").lower() == b"keep-alive"
    if not (kept and length.isdigit() and int(length) == len(body)):
        return None
    bearer = fields.get(b"authorization")
    credential = None if bearer is None else Credential(bearer.decode("latin-1"))
    return WholeRequest(line[1].decode(), line[2].decode(), credential)


def _fields(lines: list[bytes]) -> dict[bytes, bytes] | None:
    """Return the headers that matter; None if one is there twice, folded or unusual."""
    fields: dict[bytes, bytes] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        name = name.lower()
        if name[:1] in (b" ", b"\t") or name in _UNUSUAL or name in fields:
            return None
        if name in _WATCHED:
            fields[name] = value.strip()
    return fields


@lru_cache(maxsize=256)
def _encoded(path: str) -> bytes:
    """Return the headers and the body of the refusal, as the gate would send them."""
    response = respond(overloaded(), path)
    headers = b"".join(b"%s: %s\r\n" % each for each in response.raw_headers)
    return headers + b"\r\n" + bytes(response.body)
