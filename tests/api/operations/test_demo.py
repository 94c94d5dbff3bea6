"""The demo waits for a slow service as long as its process lives, and no longer."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from types import SimpleNamespace

import pytest

from api.operations import demo

LATE = 50


class Slow(BaseHTTPRequestHandler):
    """Not ready for the first requests."""

    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(200 if self.asked > LATE else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hours_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at a clock is an hour later, and nobody sleeps."""
    hours = count(step=3_600)
    clocks = dict.fromkeys(("monotonic", "time", "perf_counter"), lambda: float(next(hours)))
    monkeypatch.setattr("api.operations.demo.time", SimpleNamespace(sleep=lambda _: None, **clocks))


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield started
    started.kill()
    started.communicate()


@pytest.mark.usefixtures("hours_pass")
def test_a_slow_service_is_waited_for_by_its_progress_not_by_the_clock(
    process: subprocess.Popen[bytes],
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        demo._await_ready(f"http://127.0.0.1:{server.server_port}/readyz", process)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert Slow.asked == LATE + 1


def test_a_service_that_ended_is_not_waited_for(process: subprocess.Popen[bytes]) -> None:
    process.communicate(b"\n")
    with pytest.raises(SystemExit, match=r"/readyz.*\bprocess\b"):
        demo._await_ready("http://127.0.0.1:9/readyz", process)
