"""The server of `platform-auditor serve`: it ends with the shift of its worker, and no later.

uvicorn alone waits for requests first, streams among them, and only then tells the application to
stop: a worker of this process would take up audits meanwhile, and have its own time after that.
"""

import math
import socket

import uvicorn

from api.app import create_app
from api.service import Service
from api.shift import Shift, settle


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, shift: Shift) -> None:
        super().__init__(config)
        self._shift = shift

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Requests and the worker have the same `shutdown_seconds` to finish."""
        self._shift.tell()
        await super().shutdown(sockets)


def run(service: Service, host: str, port: int) -> None:
    """Serve until told to stop (SIGTERM, SIGINT)."""
    config = uvicorn.Config(
        create_app(service),
        host=host,
        port=port,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=math.ceil(service.settings.shutdown_seconds),
    )
    settle()
    Server(config, service.shift).run()
