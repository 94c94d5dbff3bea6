"""Hosts of the demo: three simulated platforms, each with a service in its own process.

A service reaches its platform in one of three ways (`Through`): in its own process, over HTTP, or
as files. The result of the study is the same. The third platform has no built-in bias: it learned
from people whose homes, tastes and work differ by group.

The study is `auditor_client.demo`, in another process. It has addresses, keys and the files of
researchers. `truth` is written to the same folder, so that the reader can judge the verdicts.
"""

import base64
import json
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pyarrow.csv
from joserfc.jwk import OKPKey

from api.app.compose import (
    demo_participants,
    demo_truths,
    demo_volunteers,
    export_platform_files,
    make_simulated_platform,
)
from api.db import Store
from api.db.schema import migrate
from api.kernel.settings import load_settings
from api.operations import setup
from api.platforms.interfaces import Platform

# The platform that the demo audits by every kind.
EVERY_KIND = "biased"
# It is this many times as large: each kind audits people of its own, within their lifetime caps.
_TIMES_AS_LARGE = 2
# Volunteers of a study. An ordinary bias is smaller than a planted one and takes more of them: a
# fifth of the learned platform's people.
_VOLUNTEERS, _PART_OF_LEARNED = 1_200, 5


class Through(StrEnum):
    """Connection of the services to the platforms."""

    PROCESS = "process"
    HTTP = "http"
    ONNX = "onnx"


def run(folder: Path, *, keep: bool, people: int, through: Through = Through.PROCESS) -> None:
    """Host the platforms, run the study on them, and keep serving on request."""
    # On a signal it stops the processes that it started, even if a shell made it ignore Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = folder / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(mode=0o700, parents=True)
    names = ("fair", "biased", "learned")
    print(
        f"Starting simulated platforms ({', '.join(names)}): this takes about half a minute",
        flush=True,
    )
    with host_demo(folder, people, names, through) as hosts:
        (folder / "demo.json").write_text(json.dumps(hosts, indent=2))
        command = [sys.executable, "-m", "auditor_client.demo", str(folder)]
        done = subprocess.run([*command, *(["--stay"] if keep else [])], check=False)
        if done.returncode:
            raise SystemExit(done.returncode)
        if keep:
            _wait_for_interrupt()


@contextmanager
def host_demo(
    folder: Path, people: int, names: Sequence[str], through: Through = Through.PROCESS
) -> Iterator[list[dict[str, Any]]]:
    """Start the services together; stop them when the block ends."""
    with ExitStack() as started:
        hosts = [_prepare(folder / name, name, people, through, started) for name in names]
        processes = [started.enter_context(_running(_serve(host))) for host in hosts]
        for host, process in zip(hosts, processes, strict=True):
            _await_ready(host["url"] + "/readyz", process)
        yield hosts


@contextmanager
def _running(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _prepare(
    folder: Path, name: str, people: int, through: Through, started: ExitStack
) -> dict[str, Any]:
    """Create settings, database, a regulator and an operator with their keys, and lists of
    volunteers.
    """
    folder.mkdir(mode=0o700)
    url = f"http://127.0.0.1:{_free_port()}"
    config = folder / "platform-auditor.toml"
    database = f"sqlite:///{(folder / 'service.sqlite').resolve()}"
    key = base64.urlsafe_b64encode(secrets.token_bytes(32))
    if name == EVERY_KIND:
        people *= _TIMES_AS_LARGE
    options: dict[str, Any] = {"bias": name == "biased", "people": people}
    if name == "learned":
        options["correlation"] = 1.0
    platform = make_simulated_platform(**options)
    reached, reached_by = _reached(folder.resolve(), platform, options, through, started)
    setup.write_settings(config, database, url, key, reached_by, reached)
    store = Store(load_settings(config).database_url)
    migrate(store)
    staff = _staff(store, folder)
    store.close()
    return {
        "name": name,
        "url": url,
        "config": str(config),
        **staff,
        **_recruit(folder, platform, name, people),
    }


def _reached(
    folder: Path,
    platform: Platform,
    options: Mapping[str, Any],
    through: Through,
    started: ExitStack,
) -> tuple[str, Mapping[str, Any]]:
    """Return the settings `platform` and `platform_options` of the service."""
    match through:
        case Through.PROCESS:
            return "simulated", options
        case Through.ONNX:
            return "onnx", export_platform_files(platform, folder)
        case Through.HTTP:
            url, token = f"http://127.0.0.1:{_free_port()}", folder / "adapter.token"
            setup.write_private(token, secrets.token_urlsafe(32))
            (folder / "adapter.toml").write_text(setup.toml(options))
            adapter = started.enter_context(_running(_serve_adapter(folder, url, token)))
            _await_ready(url, adapter)
            return "http", {"url": url, "token_file": str(token)}


def _staff(store: Store, folder: Path) -> dict[str, str]:
    """Register the first regulator and operator; return their ids and the paths of their keys."""
    found = {}
    for role in ("regulator", "operator"):
        key, path = OKPKey.generate_key("Ed25519"), folder / f"{role}.jwk"
        setup.write_private(path, json.dumps(key.as_dict(private=True)))
        found[f"{role}_id"] = setup.register_first(store, role, key.as_dict(private=False))
        found[f"{role}_key"] = str(path)
    return found


def _recruit(folder: Path, platform: Platform, name: str, people: int) -> dict[str, Any]:
    """Write the files of researchers: the demo's participants, and the volunteers of the
    notebooks.
    """
    learned = name == "learned"
    if learned:
        for study, others in demo_volunteers(platform).items():
            pyarrow.csv.write_csv(others, folder / f"{study}.csv")
    volunteers = people // _PART_OF_LEARNED if learned else _VOLUNTEERS
    participants, truth = demo_participants(platform, volunteers)
    pyarrow.csv.write_csv(participants, folder / "participants.csv")
    found = {"participants": str(folder / "participants.csv"), **truth}
    # One platform is audited by every kind.
    return found | (demo_truths(platform) if name == EVERY_KIND else {})


def _serve(host: dict[str, Any]) -> subprocess.Popen[bytes]:
    config = Path(host["config"])
    arguments = ["serve", "--config", str(config), "--port", host["url"].rpartition(":")[2]]
    return _start(arguments, config.parent / "service.log")


def _serve_adapter(folder: Path, url: str, token: Path) -> subprocess.Popen[bytes]:
    options = ["--options", str(folder / "adapter.toml"), "--token-file", str(token)]
    arguments = ["adapter", "simulated", *options, "--port", url.rpartition(":")[2]]
    return _start(arguments, folder / "adapter.log")


def _start(arguments: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as file:
        command = [sys.executable, "-m", "api.operations.cli", *arguments]
        return subprocess.Popen(command, stdout=file, stderr=file)


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process answers; an adapter refuses requests without a token."""
    while process.poll() is None:
        try:
            with urlopen(url):  # noqa: S310  (an address we made)
                return
        except HTTPError as error:
            if error.code < 500:
                return
            time.sleep(0.1)
        except URLError:
            time.sleep(0.1)
    raise SystemExit(f"{url} does not answer, because its process ended. Read its log.")


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
