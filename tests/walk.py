"""`python -m tests.walk`: the files that one score-histogram audit passes, in order.

An audit is submitted over HTTP, run by a worker, and its release is read over HTTP. A file counts
when one of its functions is entered for the first time; importing it does not count. The number of
changes of folder says how often a reader who follows the audit has to go elsewhere.

The last line leaves out what such a reader may skip: the layers below the domains, libraries, and
files that call no other file of ours. It counts packages of `api`, whose parts are read together.

`--at COMMIT` walks the tree of that commit with this same script, so that two trees compare.
"""

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from fastapi.testclient import TestClient

from api.app.app import create_app
from api.app.container import build_container
from tests.system.raw import raw, request_for, usernames
from tests.world import deployed, small_platform, sqlite_url

ROOT = Path(__file__).parents[1]
PRODUCT = ("api", "openapi", "platform_sim", "privacy")
# Packages of `api` that know no domain ("store" is the name of "db" in older trees).
LAYERS = ("db", "kernel", "store", "telemetry", "web")


class Walk:
    """The product files of each step, in the order in which a function of theirs was entered."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.callers: set[str] = set()
        self._step = ""

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Record what this thread, and every thread that it starts, enters during a step."""
        self._step = name
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _enter(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        if name := _product_file(frame):
            self.files.setdefault(name, self._step)
            caller = frame.f_back
            while caller is not None and not (above := _product_file(caller)):
                caller = caller.f_back
            if caller is not None and above != name:
                self.callers.add(above)


def _product_file(frame: FrameType) -> str:
    """Return the path of a frame's file in the project, or nothing for files of others."""
    path = Path(frame.f_code.co_filename)
    inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PRODUCT
    return str(path.relative_to(ROOT)) if inside else ""


def walk() -> Walk:
    """Return the walk of one audit."""
    platform = small_platform()
    world: Any = platform.people
    names = usernames(world.world, 40)
    passed = Walk()
    with TemporaryDirectory() as folder:
        with deployed(sqlite_url(Path(folder)), platform) as running:
            me = raw(running, running.auditor())
            audience = me.audience({"g0": names[:20], "g1": names[20:]})
            body = request_for(me.content(), audience)
            headers = {**me.http.headers, **me.signed("/v1/audits", body)}
            settings = running.service.settings
        container = build_container(settings, platform)
        # Without its lifespan the application starts no thread but those of the requests.
        client = TestClient(create_app(container), base_url=settings.issuer)
        with passed.step("submit"):
            submitted = client.post("/v1/audits", json=body, headers=headers)
        assert submitted.status_code == 202, submitted.text
        with passed.step("run"):
            assert container.worker().run_one()
        with passed.step("read"):
            path = f"/v1/audits/{submitted.json()['id']}/release"
            released = client.get(path, headers={"authorization": headers["authorization"]})
        assert released.status_code == 200, released.text
        container.store.close()
    return passed


def report(passed: Walk) -> str:
    """Return the walk as text: every stay in a folder on one line, and the totals."""
    files = passed.files
    lines = []
    for (step, folder), stay in groupby(files, lambda name: (files[name], str(Path(name).parent))):
        lines.append(f"{step:<6}  {folder}: {', '.join(Path(name).stem for name in stay)}")
    everywhere = [str(Path(name).parent) for name in files]
    steps = [_package(name) for name in files if name in passed.callers and _is_domain(name)]
    return "\n".join(
        [
            *lines,
            f"{_total(everywhere, 'folder')}",
            f"without layers, libraries and leaves: {_total(steps, 'package')}",
        ]
    )


def _total(places: Sequence[str], noun: str) -> str:
    changes = sum(first != second for first, second in pairwise(places))
    return f"{len(places)} files in {len(set(places))} {noun}s, {changes} changes of {noun}"


def _package(name: str) -> str:
    return "/".join(Path(name).parts[:-1][:2])


def _is_domain(name: str) -> bool:
    parts = Path(name).parts
    return parts[0] == "api" and parts[1] not in LAYERS


def report_at(commit: str) -> str:
    """Return the walk through the tree of a commit, made by this script in a process of its own."""
    with TemporaryDirectory() as folder:
        _git("worktree", "add", "--detach", folder, commit)
        try:
            shutil.copy(__file__, Path(folder) / "tests" / "walk.py")
            command = [sys.executable, "-m", "tests.walk"]
            environment = {**os.environ, "PYTHONPATH": folder}
            done = subprocess.run(
                command, cwd=folder, env=environment, check=True, capture_output=True, text=True
            )
        finally:
            _git("worktree", "remove", "--force", folder)
    return done.stdout.rstrip()


def _git(*words: str) -> None:
    subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at", metavar="COMMIT", help="the tree to walk (default: this one)")
    chosen = parser.parse_args().at
    print(report_at(chosen) if chosen else report(walk()))
