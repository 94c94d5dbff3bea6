"""Virtual environments of peers, made for one run, outside our dependencies."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
INSTALL_SECONDS = 600
RUN_SECONDS = 900


class PeerMissingError(Exception):
    """A peer cannot be installed or does not run here; the message is the last line of its
    output.
    """


def environment(folder: Path, *requirements: str) -> Path:
    """Return the Python of a new environment with these packages."""
    python = folder / "bin" / "python"
    _run([sys.executable, "-m", "uv", "venv", "-q", str(folder)], INSTALL_SECONDS)
    install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", str(python)]
    _run([*install, *requirements], INSTALL_SECONDS)
    return python


def timed(python: Path, script: str, *arguments: object) -> float:
    """Return the median seconds that a script of ours measures there; it prints them as JSON."""
    line = [str(python), str(SCRIPTS / f"{script}.py"), *map(str, arguments)]
    seconds: float = json.loads(_run(line, RUN_SECONDS).splitlines()[-1])
    return seconds


def _run(line: list[str], seconds: float) -> str:
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout).strip().splitlines()[-1:]
        raise PeerMissingError(" ".join(last)) from error
    except subprocess.TimeoutExpired as error:
        raise PeerMissingError(f"not done after {seconds} s") from error
    return done.stdout
