"""Tutorials run as printed, and print what they show.

`python -m tests.docs.test_tutorials [NAME…]` runs them and writes the outputs into the pages.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.docs.transcripts import Shell, alike, steps_of, with_outputs
from tests.world import free_port

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(page for page in TUTORIALS.glob("*.md") if list(steps_of(page.read_text())))
_READY, _PATIENCE = "Stop with Ctrl-C", 600
# Ports of the pages, which are others here.
_PORTS = ("8100", "8101", "8200")
# Two screens, with what a terminal shows.
_LINES = 140

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@contextmanager
def demo_running(folder: Path) -> Iterator[Path]:
    """Run `make serve` in a folder, and return the folder of its files."""
    said = folder / "serve.txt"
    command = [sys.executable, "-m", "api.operations.cli", "demo", "--serve"]
    with said.open("wb") as out:
        serving = subprocess.Popen(
            [*command, "--folder", "demo-output"],
            cwd=folder,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + _PATIENCE
        while _READY not in said.read_text():
            assert serving.poll() is None, said.read_text()
            assert time.monotonic() < deadline, said.read_text()
            time.sleep(0.2)
        [made] = (folder / "demo-output").glob("2*")
        yield made
    finally:
        with suppress(ProcessLookupError):
            os.killpg(serving.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            serving.wait(timeout=60)
        with suppress(ProcessLookupError):
            os.killpg(serving.pid, signal.SIGKILL)
        serving.wait()


def run_page(page: Path, made: Path, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run a page's commands; yield command, shown output and printed output."""
    shutil.copy(made / "biased" / "participants.csv", folder)
    (folder / "docs").symlink_to(TUTORIALS.parent)
    [fair, *_] = json.loads((made / "demo.json").read_text())
    environment = {"PLATFORM_AUDITOR_HOME": str(made / "home"), "PLATFORM": fair["url"]}
    shell = Shell(folder, environment, {port: str(free_port()) for port in _PORTS})
    try:
        for step in steps_of(page.read_text()):
            yield step.command, step.output, shell.run(step.command)
    finally:
        for file in folder.glob("*.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGTERM)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with demo_running(tmp_path_factory.mktemp("demo")) as folder:
        yield folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_printed(page: Path, made: Path, tmp_path: Path) -> None:
    for command, shown, printed in run_page(page, made, tmp_path):
        assert alike(shown, printed), f"{command}\n{printed}"


def test_outputs_are_compared_without_numbers() -> None:
    assert alike("gap 0.2 │ fair\n", "gap   -0.31\nfair")
    assert not alike("fair", "unfair")


def test_a_shortened_output_is_compared_as_far_as_it_is_shown() -> None:
    shown = "one two three four five six\nseven\n…\n"
    assert alike(shown, "one two three four five six\nseven\neight\n")
    assert not alike(shown, "one two three four five\nseven\neight\n")


def test_every_tutorial_is_at_most_two_screens() -> None:
    long = {page.stem: len(page.read_text().splitlines()) for page in TUTORIALS.glob("*.md")}
    assert {name: lines for name, lines in long.items() if lines > _LINES} == {}


def main() -> None:
    """Write the outputs of today's commands into the pages."""
    with TemporaryDirectory() as place, demo_running(Path(place)) as made_by_demo:
        for page in [each for each in PAGES if each.stem in sys.argv[1:] or not sys.argv[1:]]:
            with TemporaryDirectory() as folder:
                printed = [each[2] for each in run_page(page, made_by_demo, Path(folder))]
            page.write_text(with_outputs(page.read_text(), iter(printed)), encoding="utf-8")


if __name__ == "__main__":
    main()
