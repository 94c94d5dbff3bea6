"""Early refusals of overload, before a request is parsed: a flood costs the event loop little.

The loop that refuses requests also serves the admitted ones. Parsing a request, passing it through
the application and encoding its refusal takes ten times as long as checking whether its class has a
free slot. So the connection checks here first. A request is refused here only if it arrived
complete, is alone on its connection, and would be refused at the gate. Every other request takes
the usual path. The gate makes the decision; this module only reads the request and sends the
refusal.

Refusals are counted one by one in the metrics, and logged once a second.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus

from api.app.admission import Refusal
from api.app.callers import PresentedCredential, key_of_network
from api.kernel.errors import OverloadedError, RateLimitedError
from api.telemetry.metrics import REQUESTS
from api.web.problem_responses import respond

# Maximum bytes of a request that is handled here; larger ones take the usual path.
_LARGEST = 16_384
_LOG_SECONDS = 1.0
# Escapes are excluded, so that the path is the one that the application would see.
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
        b"x-forwarded-for",
    }
)
# With these headers the connection may change, or the caller is not identified by a token.
_UNUSUAL = frozenset({b"cookie", b"expect", b"transfer-encoding", b"upgrade"})
_KINDS: dict[str, type[Refusal]] = {
    OverloadedError.code: OverloadedError,
    RateLimitedError.code: RateLimitedError,
}

log = logging.getLogger("api.access")


@dataclass(frozen=True)
class WholeRequest:
    """Parts of a complete request that the gate needs.

    `network_key` is None if only a proxy knows the sender's address.
    """

    method: str
    path: str
    credential: PresentedCredential | None
    network_key: str | None


# Function that returns the refusal of a request that is shed now; None if it may be served.
Judge = Callable[[WholeRequest], Refusal | None]


@dataclass
class EarlyShedding:
    """Refusals of one process. Only its event loop uses it; the gate sets the judge."""

    judge: Judge = lambda _: None
    may_shed: Callable[[], bool] = lambda: False
    _unlogged: Counter[int] = field(default_factory=Counter)

    def answer(self, data: bytes, host: str) -> tuple[bytes, bytes] | None:
        """Return the first line and the rest of a refusal; None if the request is not shed.

        `host` is the address at the other end of the connection.
        """
        request = _read(data, host) if self.may_shed() else None
        refusal = None if request is None else self.judge(request)
        if request is None or refusal is None:
            return None
        first, status, rest = _encoded(
            request.path, refusal.code, refusal.detail, refusal.headers["Retry-After"]
        )
        REQUESTS.labels("ANY", "unmatched", str(status)).inc()
        self._log_soon(status)
        return first, rest

    def _log_soon(self, status: int) -> None:
        if not self._unlogged:
            asyncio.get_running_loop().call_later(_LOG_SECONDS, self._log)
        self._unlogged[status] += 1

    def _log(self) -> None:
        for status, requests in self._unlogged.items():
            log.info("requests.shed", extra={"status": status, "requests": requests})
        self._unlogged.clear()


def _read(data: bytes, host: str) -> WholeRequest | None:
    """Return the request in these bytes, if they are exactly one plain request."""
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
    credential = None if bearer is None else PresentedCredential(bearer.decode("latin-1"))
    key = None if b"x-forwarded-for" in fields else key_of_network(host)
    return WholeRequest(line[1].decode(), line[2].decode(), credential, key)


def _fields(lines: list[bytes]) -> dict[bytes, bytes] | None:
    """Return the relevant headers; None if one is repeated, folded or unusual."""
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
def _encoded(path: str, code: str, detail: str, seconds: str) -> tuple[bytes, int, bytes]:
    """Return first line, status, and headers with body of a refusal, as the gate would send it."""
    response = respond(_KINDS[code](detail, headers={"Retry-After": seconds}), path)
    headers = b"".join(b"%s: %s\r\n" % each for each in response.raw_headers)
    status = response.status_code
    first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
    return first, status, headers + b"\r\n" + bytes(response.body)
