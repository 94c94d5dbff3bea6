"""Transcripts of commands in pages: their parts, running them, and comparing what they print.

A block marked `console` has lines that begin with `$ `, each followed by the output of that
command. In a command, `content_…` stands for the newest identifier of that sort in earlier output.
Noise changes numbers, and with them the rows of a table and the wording of details. So outputs are
compared by how they begin, without numbers, identifiers and white space.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"\b([a-z]+)_[0-9a-f]{30}\b")
# Identifiers, digests, times and numbers: what differs from run to run.
_VARIES = re.compile(r"\b[a-z]+_[0-9a-f]{30}\b|sha256:[0-9a-f]+|-?[0-9][0-9:.,-]*( UTC)?")
_BORDERS = re.compile(r"[\s─━│┃╭╮╰╯┏┓┗┛┡┩├┤┬┴┼╇╈]+")
PATIENCE = 300
# Words by which outputs are compared.
_WORDS = 6


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
    _newest: dict[str, str] = field(default_factory=dict)

    def run(self, command: str) -> str:
        """Run a command as a reader would, and return what it prints."""
        known = re.sub(r"\b([a-z]+)_…", lambda found: self._newest[found[1]], command)
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


def beginning(output: str) -> list[str]:
    """Return the first words of an output, without what differs from run to run."""
    return _BORDERS.sub(" ", _VARIES.sub("#", output)).split()[:_WORDS]


def with_outputs(page: str, outputs: Iterator[str]) -> str:
    """Return the page with these outputs after its commands."""

    def filled(block: re.Match[str]) -> str:
        parts = re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]
        commands = (part.partition("\n")[0] for part in parts)
        return "```console\n" + "".join(f"$ {each}\n{next(outputs)}" for each in commands) + "```"

    return _BLOCK.sub(filled, page)
