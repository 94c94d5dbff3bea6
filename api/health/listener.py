"""Metrics address of a process: `/metrics`, `/healthz` and `/readyz`, for the operator only.

`serve`, `worker` and `adapter` use the same listener. It has threads of its own and uses no
database connection, so that an overload of the service does not silence it.
"""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from threading import Thread
from typing import ClassVar

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from api.kernel.settings import Settings
from api.telemetry.readiness import Readiness, WriteRecord

Answer = tuple[int, str, bytes]
# Seconds in which a client must send its request and read the answer.
_SECONDS = 10.0


class MetricsAddressError(Exception):
    """The process cannot listen at the metrics address."""


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self, host: str, port: int, handler: type["_Handler"]) -> None:
        [(family, *_, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        self.address_family = family
        super().__init__((str(address[0]), port), handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Log nothing when a client disconnects."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _SECONDS
    server_version, sys_version = "platform-auditor", ""
    answers: ClassVar[dict[str, Callable[[], Answer]]]

    def do_GET(self) -> None:
        found = self.answers.get(self.path.partition("?")[0])
        status, kind, body = found() if found else _text(404, "not found")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write no log, because a scrape is not an event."""


def listen_if_configured(settings: Settings, writes: WriteRecord) -> AbstractContextManager[None]:
    """Return a context in which this process listens at its metrics address, if it has one."""
    if settings.metrics_port is None:
        return nullcontext()
    return listen(settings.metrics_host, settings.metrics_port, writes)


@contextmanager
def listen(host: str, port: int, writes: WriteRecord | None) -> Iterator[None]:
    """Serve metrics and probes at this address while the block runs.

    A process without a database writes nothing (None), and is ready while it lives.
    """
    try:
        server = _server(host, port, writes)
    except OSError as error:
        raise MetricsAddressError(
            f"Cannot listen at the metrics address {host}:{port} ({error.strerror})."
            " Set metrics_host and metrics_port, with a port for each process of this machine."
        ) from error
    thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _server(host: str, port: int, writes: WriteRecord | None) -> _Server:
    alive = _json(200, '{"status":"ok"}')
    answers: dict[str, Callable[[], Answer]] = {
        "/metrics": lambda: (200, CONTENT_TYPE_LATEST, generate_latest()),
        "/healthz": lambda: alive,
        "/readyz": lambda: _readiness(writes.readiness()) if writes else alive,
    }
    return _Server(host, port, type("_Answers", (_Handler,), {"answers": answers}))


def _readiness(found: Readiness) -> Answer:
    body = found.model_dump(mode="json") | ({} if found.is_ready else {"reason": found.reason})
    return _json(200 if found.is_ready else 503, json.dumps(body))


def _json(status: int, body: str) -> Answer:
    return status, "application/json", body.encode()


def _text(status: int, body: str) -> Answer:
    return status, "text/plain; charset=utf-8", body.encode()
