"""Probe for containers: checks at the metrics address whether the process is ready.

It needs only the standard library, so that it starts quickly on a busy machine. A container's
HEALTHCHECK runs `python -m api.health.container_probe`, for `serve` and for `worker` alike. The
address comes from the environment, where the image sets the port.
"""

import os
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException

DEFAULT_PORT = 9100
# Loopback address for a process that listens on a wildcard address.
_ASKED_AT = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104
_SECONDS = 4.0


def probe(host: str, port: int, path: str = "/readyz") -> str | None:
    """Return None if the process at this address is ready, otherwise the problem."""
    connection = HTTPConnection(_ASKED_AT.get(host, host), port, timeout=_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(10_000).decode(errors="replace").strip()
    except (OSError, HTTPException) as error:
        return f"{host}:{port} does not answer ({type(error).__name__})"
    finally:
        connection.close()
    return None if answer.status == 200 else f"status {answer.status}: {body}"


def address(environment: Mapping[str, str]) -> tuple[str, int]:
    """Return the metrics address from the environment."""
    host = environment.get("PLATFORM_AUDITOR_METRICS_HOST", "127.0.0.1")
    return host, int(environment.get("PLATFORM_AUDITOR_METRICS_PORT", DEFAULT_PORT))


def main() -> int:
    """Exit with 0 if the process is ready, otherwise with 1 and one line on standard error."""
    problem = probe(*address(os.environ))
    if problem is not None:
        sys.stderr.write(f"{problem}\n")
    return int(problem is not None)


if __name__ == "__main__":
    sys.exit(main())
