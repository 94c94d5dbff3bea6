"""The wheel as users get it, and a clean environment with it and nothing else of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lock import ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a new environment with the base install, in the versions of the lock."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(locked_lines()))
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet"]
    where = ["--python", str(folder / "bin" / "python"), "--constraint", str(constraints)]
    subprocess.run([*uv, *where, str(wheel)], check=True, cwd=folder)
    return folder / "bin"


def locked_lines() -> list[str]:
    """The lock without its hashes: a wheel that was just built has none there."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return [line.split("\\")[0].strip() for line in lines if line[:1].isalnum() and "==" in line]
