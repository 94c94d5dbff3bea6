"""Access log: one line and some metrics per request, with the route's template, never its
content.
"""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.telemetry import tracing
from api.telemetry.metrics import LATENCY, REQUESTS

log = logging.getLogger("api.access")


class AccessLog:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started, status = time.perf_counter(), 500

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with tracing.span("request") as said:
            try:
                await self.app(scope, receive, watching)
            finally:
                said |= _record(scope, status, time.perf_counter() - started)
        return None


def _record(scope: Scope, status: int, seconds: float) -> dict[str, str]:
    """Write the log line and the metrics, and return the attributes of the span."""
    # The template is logged, not the path, which may hold any text of a caller.
    route = getattr(scope.get("route"), "path", "unmatched")
    method = scope["method"] if route != "unmatched" else "ANY"
    REQUESTS.labels(method, route, str(status)).inc()
    LATENCY.labels(method, route).observe(seconds)
    milliseconds = round(seconds * 1000, 1)
    line = {"method": method, "route": route, "status": status, "milliseconds": milliseconds}
    person = scope.get("state", {}).get("researcher")
    log.info("request", extra=line | ({"researcher": person} if person else {}))
    return {"method": method, "route": route, "status": str(status)}
