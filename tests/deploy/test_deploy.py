"""The example of a hardened deployment: linted by the programs that would run it."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from api.app.capacity import Capacity, client_connections
from api.db import Store
from api.health.container_probe import address
from api.health.listener import listen
from api.kernel.settings import load_settings
from api.operations.cli import app
from api.operations.doctor import CHECKS, DoctorSubject
from api.platforms.http.client import AdapterClientOptions
from api.telemetry.readiness import WriteRecord
from tests.world import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
BIN = Path(sys.executable).parent
UNITS = ("platform-auditor.service", "platform-auditor-worker@.service")
has_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="there is no systemd here"
)
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
BY_NAME = {check.name: check for check in CHECKS}
# Of 10: what systemd calls "OK" ends at 3.
EXPOSURE = 20
# Caddy counts in nanoseconds.
SECOND = 10**9


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_containerfile_is_linted() -> None:
    assert run(BIN / "hadolint", DEPLOY / "Containerfile") == ""


def test_the_containerfile_has_what_the_wheel_is_made_of() -> None:
    root = DEPLOY.parent
    packaged = tomllib.loads((root / "pyproject.toml").read_text())
    wheel = packaged["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    copied = re.findall(r"^COPY (\w+) \w+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert sorted(copied) == sorted(wheel)


def container(keyword: str) -> list[str]:
    """Return the text after a keyword in the Containerfile's last stage, with joined lines."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", "")
    return re.findall(rf"^{keyword} (.*)$", text.rpartition("FROM ")[2], re.MULTILINE)


def test_a_container_is_asked_where_both_commands_answer() -> None:
    """The metrics address: `worker` has no other."""
    [healthcheck] = container("HEALTHCHECK")
    program, *arguments = json.loads(healthcheck.partition("CMD ")[2])
    assert program.endswith("/bin/python")
    [setting] = container("ENV")
    name, _, port = setting.partition("=")
    assert address({name: port}) == ("127.0.0.1", int(port))
    assert {"--metrics-port"} <= known_options("serve") & known_options("worker")
    writes, port = WriteRecord(60.0), str(free_port())
    asked = [sys.executable, *arguments]
    with listen("127.0.0.1", int(port), writes):
        assert subprocess.run(asked, env={name: port}, check=False).returncode == 1
        writes.record(succeeded=True)
        run(*asked, **{name: port})


def adapted_proxy() -> Any:
    options = ("--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile")
    # What it thinks of the file follows in lines of its own.
    adapted = run(BIN / "caddy", "adapt", *options).splitlines()[0]
    [server] = json.loads(adapted)["apps"]["http"]["servers"].values()
    return server


def handlers(node: Any, name: str) -> Iterator[dict[str, Any]]:
    """Every handler of this name, however deep."""
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from handlers(child, name)
    if isinstance(node, dict) and node.get("handler") == name:
        yield node


def test_limits_of_the_proxy_are_those_of_the_service(subject: DoctorSubject) -> None:
    settings, server = subject.settings, adapted_proxy()
    assert server["read_header_timeout"] == settings.header_seconds * SECOND
    slowest = settings.body_seconds + settings.max_part_bytes / settings.body_bytes_per_second
    slowest = min(slowest, settings.whole_body_seconds)
    assert slowest <= server["read_timeout"] / SECOND <= 1.1 * slowest
    assert server["idle_timeout"] > 0
    assert server["max_header_bytes"] >= 16_384
    [body] = handlers(server["routes"], "request_body")
    assert settings.max_part_bytes < body["max_size"] <= settings.max_part_bytes + (1 << 20)
    for each in handlers(server["routes"], "reverse_proxy"):
        transport = each["transport"]
        assert transport["keep_alive"]["idle_timeout"] < settings.idle_seconds * SECOND
        assert transport["max_conns_per_host"] < settings.client_connections


def test_the_proxy_is_trusted_and_nobody_else(subject: DoctorSubject) -> None:
    asked = {
        upstream["dial"].rpartition(":")[0]
        for each in handlers(adapted_proxy()["routes"], "reverse_proxy")
        for upstream in each["upstreams"]
    }
    # It reaches the service on the loopback address, and comes from there.
    assert set(subject.settings.trusted_proxies) == asked == {"127.0.0.1"}


def test_as_many_files_may_be_open_as_connections_are_taken(subject: DoctorSubject) -> None:
    [files] = unit_values("platform-auditor.service", "LimitNOFILE")
    settings = subject.settings
    # Each of them may have a spooled body too.
    assert client_connections(settings, int(files) // 2) == settings.client_connections
    [few] = unit_values("platform-auditor-worker@.service", "LimitNOFILE")
    assert int(few) > 10 * Capacity.from_settings(settings).connections


@pytest.mark.parametrize("name", UNITS)
def test_files_of_a_unit_are_its_own(name: str) -> None:
    assert unit_values(name, "StateDirectoryMode") == ["0700"]
    assert unit_values(name, "UMask") == ["0077"]


def test_every_unit_has_a_metrics_port_of_its_own() -> None:
    ports = [
        re.findall(r"--metrics-port (\S+)", line)
        for name in UNITS
        for line in unit_values(name, "ExecStart")
    ]
    assert ports == [["9100"], ["910%i"]]


def unit_values(name: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", (DEPLOY / name).read_text(), re.MULTILINE)


def known_options(command: str) -> set[str]:
    return {name for each in COMMANDS[command].params for name in _names(each)}


def test_the_proxy_takes_its_configuration(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    options = ("--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile")
    assert "Valid configuration" in run(BIN / "caddy", "validate", *options, **home)
    formatted = run(BIN / "caddy", "fmt", DEPLOY / "Caddyfile", **home)
    assert formatted == (DEPLOY / "Caddyfile").read_text()


def test_the_proxy_sends_messages_of_a_run_to_one_process() -> None:
    [site] = [each for route in adapted_proxy()["routes"] for each in route["handle"]]
    [exchange, rest] = [
        (route.get("match"), handler.get("load_balancing"))
        for route in site["routes"]
        for handler in route["handle"]
        if handler["handler"] == "reverse_proxy"
    ]
    assert exchange[0] == [{"path": ["/v1/audits/*/exchange"]}]
    assert exchange[1] == {"selection_policy": {"policy": "uri_hash"}}
    assert rest == (None, None)


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units, with a program that is there."""
    written = [tmp_path / name for name in UNITS]
    for name, path in zip(UNITS, written, strict=True):
        text = (DEPLOY / name).read_text()
        path.write_text(text.replace("/opt/platform-auditor/bin/platform-auditor", "/bin/true"))
    return written


@has_systemd
def test_systemd_finds_nothing_wrong(units: list[Path]) -> None:
    assert run("systemd-analyze", "verify", "--man=no", *units) == ""


@has_systemd
def test_the_units_are_sandboxed(units: list[Path]) -> None:
    options = ("--offline=true", "--no-pager", f"--threshold={EXPOSURE}")
    for unit in units:
        run("systemd-analyze", "security", *options, unit)


def test_commands_of_the_units_are_ours() -> None:
    """Every option is one that the command has."""
    for name in UNITS:
        for line in re.findall(r"^Exec\w+=\S+ (.*)$", (DEPLOY / name).read_text(), re.MULTILINE):
            command, *rest = line.split()
            assert {each for each in rest if each.startswith("--")} <= known_options(command)


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


@pytest.fixture
def subject() -> Iterator[DoctorSubject]:
    settings = load_settings(DEPLOY / "platform-auditor.toml")
    store = Store("sqlite://")
    yield DoctorSubject(settings, store)
    store.close()


def test_the_settings_are_good_but_for_their_key(subject: DoctorSubject) -> None:
    assert AdapterClientOptions(**subject.settings.platform_options).token_file is not None
    assert BY_NAME["sealing-key-is-random"](subject).outcome == "failed"


@pytest.mark.parametrize("name", UNITS)
def test_an_audit_that_is_taken_fits_into_the_memory_of_the_unit(
    subject: DoctorSubject, name: str
) -> None:
    [gib] = re.findall(r"^MemoryMax=(\d+)G$", (DEPLOY / name).read_text(), re.MULTILINE)
    allowed = replace(subject, memory=lambda: int(gib) << 30)
    assert BY_NAME["memory-is-enough"](allowed).outcome == "ok"
