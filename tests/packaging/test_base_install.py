"""The base install in a clean environment: the SDK and its command, and none of the service."""

import subprocess
from pathlib import Path

import pytest

from tests.packaging.test_wheel import SERVER


def run(*command: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """In a folder with nothing in it, so that nothing of the source tree is found."""
    environment = {"PLATFORM_AUDITOR_HOME": str(home), "HOME": str(home), "COLUMNS": "200"}
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=home, env=environment, capture_output=True, text=True, check=False
    )


def test_the_sdk_imports_whole_and_drags_in_none_of_the_service(
    clean: Path, tmp_path: Path
) -> None:
    program = """
import importlib, importlib.util, pkgutil, sys
for name in ("auditor_client", "openapi", "privacy"):
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        extra = module.name.startswith(("privacy.waist", "privacy.two_party"))
        if not extra and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
from auditor_client import Auditor, Regulator
from auditor_client.fairness.gap import fairness_gap
gap = fairness_gap(counts={"g0": [900, 100], "g1": [100, 900]}, sizes=None, epsilon=1.0, delta=0.05)
print(gap.verdict(0.2))
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name)])
"""
    done = run(clean / "python", "-W", "error", "-c", program, *sorted(SERVER), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["unfair", ""]


def test_the_command_works_without_the_service(clean: Path, tmp_path: Path) -> None:
    shown = run(clean / "auditor", "--help", home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "audience" in shown.stdout
    made = run(clean / "auditor", "key", "--help", home=tmp_path)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", ["api", "api.audits.queue.worker"])
def test_importing_the_service_names_the_extra(clean: Path, tmp_path: Path, name: str) -> None:
    program = f"""
try:
    import {name}
except ImportError as error:
    print(error)
"""
    done = run(clean / "python", "-c", program, home=tmp_path)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert "platform-auditor[server]" in line
    assert "fastapi" in line


def test_importing_two_party_audits_names_the_extra(clean: Path, tmp_path: Path) -> None:
    program = "import importlib; importlib.import_module('privacy.two_party')"
    done = run(clean / "python", "-c", program, home=tmp_path)
    assert 'pip install "platform-auditor[two-party]"' in done.stderr.splitlines()[-1]


def test_the_operators_command_fails_in_one_line_that_names_the_extra(
    clean: Path, tmp_path: Path
) -> None:
    done = run(clean / "platform-auditor", "serve", home=tmp_path)
    assert done.returncode == 1
    [line] = (done.stdout + done.stderr).splitlines()
    assert 'pip install "platform-auditor[server]"' in line
