"""The service as a child process: `platform-auditor serve` with its default settings.

It has 1,024 file descriptors, the usual soft limit of a Linux process.
"""

import base64
import json
import resource
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from joserfc.jwk import OKPKey

from api.kernel.settings import load_settings
from api.operations.setup import prepare, write_settings
from tests.world import free_port

DESCRIPTORS = 1_024
# More than a busy machine needs.
_START_SECONDS = 240.0
_STOP_SECONDS = 30.0


@dataclass(frozen=True)
class Server:
    """A running service, the id of its process, and its first regulator."""

    url: str
    pid: int
    ids: Mapping[str, str]
    keys: Mapping[str, OKPKey]


@contextmanager
def served(folder: Path, database_url: str) -> Iterator[Server]:
    """Serve a new database in this folder; end the process by its id."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    config = folder / "settings.toml"
    secret = base64.urlsafe_b64encode(secrets.token_bytes(32))
    write_settings(config, database_url, url, secret)
    keys = {"regulator": OKPKey.generate_key("Ed25519")}
    public = {role: _public(folder / f"{role}.json", key) for role, key in keys.items()}
    ids = prepare(load_settings(config), public)
    command = [sys.executable, "-m", "api.operations.cli", "serve", "--config", str(config)]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=output, stderr=output, preexec_fn=_limit
        )
    try:
        _await(url, process, log)
        yield Server(url, process.pid, ids, keys)
    finally:
        _end(process)


def _public(path: Path, key: OKPKey) -> Path:
    path.write_text(json.dumps(key.as_dict(private=False)))
    return path


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert process.poll() is None, f"the service ended: {log.read_text()[-2_000:]}"
        try:
            with urlopen(f"{url}/readyz", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
