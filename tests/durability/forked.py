"""Processes forked from one that has imported everything: cheap to start, and as easy to kill."""

import os
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from api.operations import cli

# What the test that starts us has imported too: a fork imports it again if it is not there.
PRELOADED = ["tests.durability.test_many_processes", "tests.durability.slow_platform"]


def start(folder: Path, command: str, **options: Any) -> ForkServerProcess:
    """A command of `platform-auditor`, with the settings in the folder."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_run, args=(folder, command, options), daemon=True)
    process.start()
    return process


def _run(folder: Path, command: str, options: dict[str, Any]) -> None:
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    getattr(cli, command)(config=folder / "settings.toml", **options)


def kill(process: ForkServerProcess) -> None:
    """kill -9: no goodbye, no clean-up."""
    process.kill()
    process.join()
