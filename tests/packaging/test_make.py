"""What make installs: everything for the tests, less for the demo, and nothing twice."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.lock import DEMO, FULL, ROOT

_STAMPS = {"everything": (".ready", ".ready-demo"), "demo": (".ready-demo",), "nothing": ()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the files that make looks at, older than every stamp."""
    for name in ("Makefile", "pyproject.toml", FULL.file, DEMO.file):
        copy = tmp_path / name
        copy.write_text((ROOT / name).read_text())
        os.utime(copy, (1, 1))
    return tmp_path


def installs(project: Path, target: str) -> list[str]:
    """Return the locks that a target would install, each with the command of uv."""
    command = ["make", "--dry-run", "--no-print-directory", target]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    return [
        f"{subcommand} {lock.file}"
        for lock in (FULL, DEMO)
        for subcommand in ("sync", "install -r")
        if f'echo "Installing the packages of {lock.file}' in done.stdout
        and f'LOCKED="$UV pip {subcommand}"' in done.stdout
    ]


@pytest.mark.parametrize(
    ("installed", "target", "expected"),
    [
        ("nothing", "demo", [f"install -r {DEMO.file}"]),
        ("nothing", "serve", [f"install -r {DEMO.file}"]),
        ("nothing", "test", [f"sync {FULL.file}"]),
        ("demo", "demo", []),
        ("demo", "test", [f"sync {FULL.file}"]),
        ("demo", "check", [f"sync {FULL.file}"]),
        ("everything", "serve", []),
        ("everything", "test", []),
    ],
)
def test_a_target_installs_what_is_missing(
    project: Path, installed: str, target: str, expected: list[str]
) -> None:
    (project / ".venv").mkdir()
    for stamp in _STAMPS[installed]:
        (project / ".venv" / stamp).touch()
    assert installs(project, target) == expected


def test_the_demo_removes_nothing_when_its_lock_is_newer(project: Path) -> None:
    (project / ".venv").mkdir()
    for stamp in _STAMPS["everything"]:
        (project / ".venv" / stamp).touch()
        os.utime(project / ".venv" / stamp, (2, 2))
    os.utime(project / DEMO.file, (3, 3))
    assert installs(project, "demo") == [f"install -r {DEMO.file}"]
    assert installs(project, "test") == [f"sync {FULL.file}"]


def test_the_install_of_everything_counts_for_the_demo(project: Path) -> None:
    command = ["make", "--dry-run", "test"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    assert "touch .venv/.ready .venv/.ready-demo" in done.stdout
