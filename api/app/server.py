"""Server of `platform-auditor serve`, which stops its worker and its requests at the same time.

uvicorn alone first waits for requests, including streams, and only then tells the application to
stop. Until then a worker of this process would claim audits, and have its own time after that.
"""

import math
import os
import socket
import sys

import uvicorn

from api.app.app import create_app
from api.app.capacity import ACCEPTED_AT_ONCE, client_connections, open_file_limit
from api.app.connections import limited_protocol
from api.app.container import Container
from api.audits.queue.worker_thread import WorkerThread, freeze_startup_objects

# Seconds after which a computing thread lets another one run (Python's default: 0.005). With
# fifteen computing threads, the event loop, which sheds and answers probes, waits for 3 ms at most.
# Five threads of pure Python take no measurably more processor time than at 0.001 or 0.005.
_SWITCH_SECONDS = 0.0002
# Connections that wait in the operating system until they are accepted.
_WAITING_CONNECTIONS = 2_048


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, worker_thread: WorkerThread) -> None:
        super().__init__(config)
        self._worker_thread = worker_thread

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept few connections per iteration, and let the operating system queue many more.

        asyncio has one number for both. Accepting thousands in one iteration uses up all files
        before any connection can be dropped.
        """
        await super().startup(sockets)
        for server in self.servers:
            for listener in server.sockets:
                with socket.socket(fileno=os.dup(listener.fileno())) as same:
                    same.listen(_WAITING_CONNECTIONS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the worker and the requests, which have the same `shutdown_seconds` to finish."""
        self._worker_thread.request_stop()
        await super().shutdown(sockets)


def make_server_config(container: Container, host: str, port: int) -> uvicorn.Config:
    """Return uvicorn's configuration; only `trusted_proxies` may state another caller's address."""
    settings = container.settings
    most = client_connections(settings, open_file_limit())
    app = create_app(container)
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        backlog=ACCEPTED_AT_ONCE,
        http=limited_protocol(
            settings.header_seconds, settings.answer_seconds, most, early=app.state.early
        ),
        timeout_keep_alive=settings.idle_seconds,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=math.ceil(settings.shutdown_seconds),
    )


def run(container: Container, host: str, port: int) -> None:
    """Serve until a signal to stop (SIGTERM, SIGINT)."""
    config = make_server_config(container, host, port)
    sys.setswitchinterval(_SWITCH_SECONDS)
    freeze_startup_objects()
    Server(config, container.worker_thread).run()
