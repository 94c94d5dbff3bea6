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

from api.cli import app
from api.doctor import CHECKS, Patient
from api.hosting.line import LineOptions
from api.settings import load_settings
from api.store import Store

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


def test_the_proxy_takes_its_configuration(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    options = ("--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile")
    assert "Valid configuration" in run(BIN / "caddy", "validate", *options, **home)
    formatted = run(BIN / "caddy", "fmt", DEPLOY / "Caddyfile", **home)
    assert formatted == (DEPLOY / "Caddyfile").read_text()


def test_the_proxy_sends_messages_of_a_run_to_one_process() -> None:
    options = ("--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile")
    # What it thinks of the file follows in lines of its own.
    adapted = run(BIN / "caddy", "adapt", *options).splitlines()[0]
    [server] = json.loads(adapted)["apps"]["http"]["servers"].values()
    [site] = [each for route in server["routes"] for each in route["handle"]]
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
            known = {name for each in COMMANDS[command].params for name in _names(each)}
            assert {option for option in rest if option.startswith("--")} <= known


def _names(parameter: Any) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


@pytest.fixture
def patient() -> Iterator[Patient]:
    settings = load_settings(DEPLOY / "platform-auditor.toml")
    store = Store("sqlite://")
    yield Patient(settings, store)
    store.close()


def test_the_settings_are_good_but_for_their_key(patient: Patient) -> None:
    assert LineOptions(**patient.settings.platform_options).token_file is not None
    assert BY_NAME["sealing-key-is-random"](patient).outcome == "wrong"


@pytest.mark.parametrize("name", UNITS)
def test_an_audit_that_is_taken_fits_into_the_memory_of_the_unit(
    patient: Patient, name: str
) -> None:
    [gib] = re.findall(r"^MemoryMax=(\d+)G$", (DEPLOY / name).read_text(), re.MULTILINE)
    allowed = replace(patient, memory=lambda: int(gib) << 30)
    assert BY_NAME["memory-is-enough"](allowed).outcome == "right"
