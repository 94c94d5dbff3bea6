"""Transcripts of commands in pages: their parts, running them, and comparing what they print.

A block marked `console` has lines that begin with `$ `, each followed by the output of that
command. In a command, `content_…` stands for the newest identifier of that sort in earlier output.
An output that a page shortens ends with a line `…`. Noise changes numbers, and with them the rows
of a table and the wording of details. So outputs are compared by their words, without numbers,
identifiers and borders of tables: the first ones must be equal, and of all most.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"\b([a-z]+)_[0-9a-f]{30}\b")
# Identifiers, digests, keys, times and numbers, whole or broken over lines: they differ from run to
# run, and each has a digit.
_VARIES = re.compile(r"\S*[0-9]\S*( UTC)?")
_BORDERS = re.compile(r"[\s─━│┃╭╮╰╯┏┓┗┛┡┩├┤┬┴┼╇╈]+")
PATIENCE = 300
# The first words must be equal, and of all words this share.
_FIRST, _SHARE = 6, 0.8
# The line by which a page shortens an output.
_SHORTENED = "…"


@dataclass(frozen=True)
class Step:
    """One command of a page, and the output that the page shows."""

    command: str
    output: str


def steps_of(page: str) -> Iterator[Step]:
    """Yield the steps of all transcripts of a page."""
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Step(command, output)


@dataclass
class Shell:
    """Runs the commands of one page in one folder."""

    folder: Path
    environment: Mapping[str, str]
    # Words of the page that are something else here: ports, above all.
    instead: Mapping[str, str] = field(default_factory=dict)
    _newest: dict[str, str] = field(default_factory=dict)

    def run(self, command: str) -> str:
        """Run a command as a reader would, and return what it prints."""
        known = re.sub(r"\b([a-z]+)_…", lambda found: self._newest[found[1]], command)
        for word, here in self.instead.items():
            known = known.replace(word, here)
        commands = str(Path(sys.executable).parent)
        done = subprocess.run(
            ["bash", "-c", known],
            cwd=self.folder,
            env={
                **os.environ,
                **self.environment,
                "PATH": f"{commands}:{os.environ['PATH']}",
                "COLUMNS": "100",
                "NO_COLOR": "1",
                "TERM": "dumb",
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        output = "\n".join(line.rstrip() for line in (done.stdout + done.stderr).splitlines())
        self._newest |= {found[1]: found[0] for found in _ID.finditer(output)}
        return f"{output}\n" if output else ""


def alike(shown: str, printed: str) -> bool:
    """Return whether a page shows what a command printed, but for what differs from run to run."""
    lines = shown.splitlines()
    if _is_shortened(shown):
        printed = "\n".join(printed.splitlines()[: len(lines) - 1])
        shown = "\n".join(lines[:-1])
    first, second = words_of(shown), words_of(printed)
    if first[:_FIRST] != second[:_FIRST]:
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _SHARE


def words_of(output: str) -> list[str]:
    """Return the words of an output, without what differs from run to run."""
    return _BORDERS.sub(" ", _VARIES.sub(" ", output)).split()


def _is_shortened(output: str) -> bool:
    lines = output.splitlines()
    return bool(lines) and lines[-1].strip() == _SHORTENED


def with_outputs(page: str, outputs: Iterator[str]) -> str:
    """Return the page with these outputs after its commands, as short as the page had them."""

    def filled(block: re.Match[str]) -> str:
        steps = [
            f"$ {step.command}\n{_as_short(step.output, next(outputs))}"
            for step in steps_of(block[0])
        ]
        return "```console\n" + "".join(steps) + "```"

    return _BLOCK.sub(filled, page)


def _as_short(shown: str, printed: str) -> str:
    if not _is_shortened(shown):
        return printed
    kept = printed.splitlines()[: len(shown.splitlines()) - 1]
    return "\n".join([*kept, _SHORTENED, ""])
