"""Start of `platform-auditor`: Ctrl-C ends it with one line, at every stage."""

import subprocess
import sys

import pytest

# Sends itself SIGINT in the first call of a function. The words name its module and the function.
INTERRUPTED = """
import os, signal, sys
wanted = sys.argv.pop(1), sys.argv.pop(1)
def profile(frame, event, _):
    if (frame.f_globals.get("__name__"), frame.f_code.co_name) == wanted and event == "call":
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(profile)
from api.operations.__main__ import main; main()
"""


@pytest.mark.parametrize("module", ["api.kernel.errors", "api.operations.cli"])
def test_interrupted_while_its_modules_load_it_says_so_in_one_line(module: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, module, "<module>", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stdout == ""
    assert done.stderr.startswith("Interrupted.")
    assert done.stderr.count("\n") == 1


def test_interrupted_in_a_command_it_shows_no_traceback() -> None:
    command = [sys.executable, "-c", INTERRUPTED, "api.operations.cli", "_root", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
