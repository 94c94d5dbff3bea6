"""Commands whose output nobody reads any more, as in `auditor … | head`."""

import os
import subprocess
import sys

import pytest

PROGRAM = "from auditor_client.cli.__main__ import main; main()"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--help"], id="help"),
        pytest.param(["apply", "--template"], id="text"),
        pytest.param(["profile", "list"], id="table"),
        pytest.param(["profile", "list", "--json"], id="json"),
    ],
)
def test_a_command_whose_reader_is_gone_ends_in_silence(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
