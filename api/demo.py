"""The demo's hosts: two simulated platforms, each behind a service in a process of its own.

The study itself is `auditor_client.demo`, in another process: it knows addresses and keys, and what
researchers hold. `truth` is written beside them so that the reader can judge the verdicts.

Left running, there is a third platform, for the notebooks of docs/examples: nobody put a bias into
it, but it learned from people whose homes, tastes and work differ by group.
"""

import base64
import json
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pyarrow.csv
from joserfc.jwk import OKPKey

from api import setup
from api.compose import demo_participants, demo_volunteers, simulated
from api.platform import Platform
from api.settings import load_settings
from api.store import Store
from api.store.schema import migrate

_READY_SECONDS = 60


def run(folder: Path, *, keep: bool, people: int) -> None:
    """Host both platforms, run the study on them, and keep serving if asked to."""
    # Told to stop, it stops what it started.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    folder = folder / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    names = ("fair", "biased", "learned") if keep else ("fair", "biased")
    with hosting(folder, people, names) as hosts:
        (folder / "demo.json").write_text(json.dumps(hosts, indent=2))
        command = [sys.executable, "-m", "auditor_client.demo", str(folder)]
        done = subprocess.run([*command, *(["--stay"] if keep else [])], check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        if keep:
            _wait_for_interrupt()


@contextmanager
def hosting(folder: Path, people: int, names: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    """The services, started together, stopped when the block ends."""
    hosts = [_prepare(folder / name, name, people) for name in names]
    processes = [_serve(host) for host in hosts]
    try:
        for host, process in zip(hosts, processes, strict=True):
            _await_ready(host["url"], process)
        yield hosts
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _prepare(folder: Path, name: str, people: int) -> dict[str, Any]:
    """Settings, database, a regulator and an operator with their keys, and lists of volunteers."""
    folder.mkdir()
    url = f"http://127.0.0.1:{_free_port()}"
    config = folder / "platform-auditor.toml"
    database = f"sqlite:///{(folder / 'service.sqlite').resolve()}"
    key = base64.urlsafe_b64encode(secrets.token_bytes(32))
    options: dict[str, Any] = {"bias": name == "biased", "people": people}
    if name == "learned":
        options["correlation"] = 1.0
    setup.write_settings(config, database, url, key, platform_options=options)
    store = Store(load_settings(config).database_url)
    migrate(store)
    staff = _staff(store, folder)
    store.close()
    return {
        "name": name,
        "url": url,
        "config": str(config),
        **staff,
        **_recruit(folder, simulated(**options), name),
    }


def _staff(store: Store, folder: Path) -> dict[str, str]:
    """The first regulator and operator: their ids, and where their keys are."""
    found = {}
    for role in ("regulator", "operator"):
        key, path = OKPKey.generate_key("Ed25519"), folder / f"{role}.jwk"
        setup.write_private(path, json.dumps(key.as_dict(private=True)))
        found[f"{role}_id"] = setup.register_first(store, role, key.as_dict(private=False))
        found[f"{role}_key"] = str(path)
    return found


def _recruit(folder: Path, platform: Platform, name: str) -> dict[str, Any]:
    """Write what researchers hold: the demo's participants, or the volunteers of the notebooks."""
    if name == "learned":
        for study, volunteers in demo_volunteers(platform).items():
            pyarrow.csv.write_csv(volunteers, folder / f"{study}.csv")
        return {}
    participants, truth = demo_participants(platform)
    pyarrow.csv.write_csv(participants, folder / "participants.csv")
    return {"participants": str(folder / "participants.csv"), "truth": truth}


def _serve(host: dict[str, Any]) -> subprocess.Popen[bytes]:
    port = host["url"].rpartition(":")[2]
    config = Path(host["config"])
    command = [sys.executable, "-m", "api.cli", "serve", "--config", str(config), "--port", port]
    with (config.parent / "service.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{url}/readyz"):  # noqa: S310  (an address we made)
                return
        except URLError:
            time.sleep(0.1)
    raise SystemExit(f"the service at {url} did not start: see service.log beside its settings")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_interrupt() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return
