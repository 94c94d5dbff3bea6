"""Retries: conditions for sending a request again, and waiting times.

A request that may be repeated (`again`) is retried on 429, 5xx and broken connections. Any other
request is retried only if the service has not acted on it: on 429, on 503 with `Retry-After`, and
if no connection was established.

`Retry-After` is honoured for the first five minutes of waiting, and then while the sum of all waits
is within `patience`. A single wait above `patience` raises the error at once. Every wait has a
random part (jitter), so that clients refused at the same time do not return at the same time.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from auditor_client.errors import ConnectionBrokenError
from auditor_client.local.progress import tell

BUSY = 429
UNAVAILABLE = 503
FAILED = frozenset({500, 502, UNAVAILABLE, 504})
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
# Seconds of waiting before a refusal, within the patience.
_AT_LEAST = 300.0
# Seconds; shorter waits print no line.
_TOLD_SECONDS = 1.0


@dataclass(frozen=True)
class Retries:
    """Limits on retries, in attempts and seconds.

    `attempts` counts failures without `Retry-After` (default: 8). `patience` limits the sum of the
    waits that the service asks for (default: 360 s). A wait that begins within five minutes is
    completed.
    """

    attempts: int = 8
    first_wait: float = 0.25
    longest_wait: float = 8.0
    patience: float = 360.0

    def call(
        self, send: Callable[[], httpx2.Response], retry_idempotently: bool
    ) -> httpx2.Response:
        """Return the first answer that needs no retry."""
        trying = _Trying(self)
        while True:
            try:
                response = send()
            except httpx2.TransportError as error:
                pause = trying.after_failure() if retry_idempotently or _never_sent(error) else None
                if pause is None:
                    raise connection_broken(error) from error
            else:
                pause = self._pause(response, trying, retry_idempotently)
                if pause is None:
                    return response
                trying.tell_once(response, pause)
            time.sleep(pause)

    def _pause(
        self, response: httpx2.Response, trying: "_Trying", retry_idempotently: bool
    ) -> float | None:
        """Return the seconds until the next attempt, or None if there should be none."""
        status, asked = response.status_code, retry_after(response)
        if status in (BUSY, UNAVAILABLE) and asked is not None:
            return trying.after_asking(asked)
        if status == BUSY or (retry_idempotently and status in FAILED):
            return trying.after_failure()
        return None


@dataclass
class _Trying:
    """Number of failures of one request, and the waiting time that the service requested."""

    limits: Retries
    failures: int = 0
    asked: int = 0
    waited: float = 0.0
    told: bool = field(default=False)

    def after_failure(self) -> float | None:
        """Return an exponential wait with full jitter; None after the last attempt."""
        self.failures += 1
        return None if self.failures >= self.limits.attempts else self._jitter(self.failures)

    def after_asking(self, seconds: float) -> float | None:
        """Return at least the requested seconds; None if the patience is exhausted."""
        patience = self.limits.patience
        enough = self.waited >= min(_AT_LEAST, patience)
        if seconds > patience or (enough and seconds > patience - self.waited):
            return None
        self.asked += 1
        pause = seconds + self._jitter(self.asked, at_least=seconds / 2)
        self.waited += max(pause, self.limits.first_wait)
        return pause

    def tell_once(self, response: httpx2.Response, pause: float) -> None:
        """Print that the service is busy, at the first long wait."""
        if self.told or pause < _TOLD_SECONDS:
            return
        self.told = True
        tell(
            f"{response.request.url.host} is busy (HTTP {response.status_code}): waiting "
            f"{pause:.0f} s and trying again, for up to {self.limits.patience / 60:.0f} "
            "minutes."
        )

    def _jitter(self, number: int, at_least: float = 0.0) -> float:
        """Return a random wait, up to a limit that doubles with every attempt."""
        doubled = self.limits.first_wait * 2 ** min(number - 1, 20)
        longest = min(self.limits.longest_wait, max(doubled, at_least))
        return random.uniform(0, longest)  # noqa: S311  (jitter is no secret)


def retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds that the service asks to wait; None if it states none."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _never_sent(error: httpx2.TransportError) -> bool:
    return isinstance(error, NEVER_SENT)


def connection_broken(error: httpx2.TransportError) -> ConnectionBrokenError:
    where = error.request.url.copy_with(query=None)
    return ConnectionBrokenError(
        f"No answer from {where} ({type(error).__name__}: {error})."
        " Check the address and that the service is running, then try again."
    )
