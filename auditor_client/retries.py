"""When a request is sent again, and how long to wait before.

A request that may be repeated (`again`) is retried on 429, 5xx and broken connections. One that may
not is retried only where the service has certainly not acted on it: on 429, and when no connection
came about. Waits grow exponentially with full jitter; `Retry-After` is honoured.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from auditor_client.errors import ConnectionBrokenError

BUSY = 429
FAILED = frozenset({500, 502, 503, 504})
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class Retries:
    """How patient to be, in attempts and seconds."""

    attempts: int = 6
    first_wait: float = 0.25
    longest_wait: float = 8.0
    longest_retry_after: float = 120.0

    def call(self, send: Callable[[], httpx2.Response], again: bool) -> httpx2.Response:
        """The first answer that is not worth another try."""
        for attempt in range(1, self.attempts):
            try:
                response = send()
            except httpx2.TransportError as error:
                if not (again or isinstance(error, NEVER_SENT)):
                    raise broken(error) from error
                time.sleep(self._wait(attempt))
                continue
            pause = self._pause(response, attempt, again)
            if pause is None:
                return response
            time.sleep(pause)
        try:
            return send()
        except httpx2.TransportError as error:
            raise broken(error) from error

    def _pause(self, response: httpx2.Response, attempt: int, again: bool) -> float | None:
        """Seconds until the next try, or None where there should be none."""
        status = response.status_code
        if status != BUSY and not (again and status in FAILED):
            return None
        asked = retry_after(response)
        if asked > self.longest_retry_after:
            return None
        return asked + self._wait(attempt)

    def _wait(self, attempt: int) -> float:
        longest = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))
        return random.uniform(0, longest)  # noqa: S311  (jitter is no secret)


def retry_after(response: httpx2.Response) -> float:
    """The seconds the service asks for; 0 where it asks for none."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def broken(error: httpx2.TransportError) -> ConnectionBrokenError:
    where = error.request.url.copy_with(query=None)
    return ConnectionBrokenError(
        f"No answer from {where} ({type(error).__name__}: {error})."
        " Check the address and that the service is running, then try again."
    )
