"""Help of every command and subcommand, at a fixed width and without colours."""

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer

ROOT = Path(__file__).parents[2]
WIDTH = 100
# Modules with the commands: the entry points load them only when they run.
_MODULES = {"auditor": "auditor_client.cli.app", "platform-auditor": "api.operations.cli"}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def help_pages() -> dict[str, str]:
    """Return one file for each command that the project installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        f"help/{name}.txt": "".join(_pages(name, import_module(_MODULES[name]).app))
        for name in project["project"]["scripts"]
    }


def _pages(name: str, app: typer.Typer) -> Iterator[str]:
    command = typer.main.get_command(app)
    for words in _commands(command, ()):
        lines = [line.rstrip() for line in _help(command, name, words).strip().splitlines()]
        yield "\n".join([" ".join(["$", name, *words, "--help"]), *lines, "", ""])


def _help(command: Any, name: str, words: tuple[str, ...]) -> str:
    width = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    with patch.dict(os.environ, width), redirect_stdout(StringIO()) as shown:
        command.main([*words, "--help"], prog_name=name, standalone_mode=False)
    return _ESCAPES.sub("", shown.getvalue())


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and, sorted, of every command below it, hidden ones included."""
    yield words
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(below, (*words, name))
