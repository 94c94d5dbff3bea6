"""The `auditor` command is killed at every moment, then run again: it is charged once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auditor_client import Auditor, save_profile
from auditor_client.local.private_files import home, write_private
from tests.system.gates import Gate, Where, gated
from tests.system.test_audit import upload_job
from tests.world import Deployment

pytestmark = pytest.mark.long

AUDIT = r"/v1/audits/[^/]+"
# Every moment at which a client can be lost, as the request that is under way then.
MOMENTS: dict[str, tuple[str, str, Where]] = {
    "sent, not received": ("POST", "/v1/audits", "before"),
    "charged, not answered": ("POST", "/v1/audits", "after"),
    "waiting": ("GET", f"{AUDIT}/events", "before"),
    "released, not read": ("GET", f"{AUDIT}/release", "before"),
    "read, not saved": ("GET", f"{AUDIT}/proof", "before"),
}


@pytest.fixture(scope="module")
def gate(sqlite_deployment: Deployment) -> Iterator[Gate]:
    with gated(sqlite_deployment) as made:
        yield made


@pytest.fixture(autouse=True)
def open_gate(gate: Gate) -> Iterator[None]:
    yield
    gate.lift()


class Command:
    """`auditor audit run` of one researcher, as a process."""

    def __init__(self, deployment: Deployment, gate: Gate, folder: Path) -> None:
        self.auditor = signed_up(deployment, gate.url)
        content = upload_job(self.auditor)
        audience = self.auditor.audiences.sample("gender", {"woman": 50, "man": 60})
        self.receipt = folder / "receipt.json"
        self.words = [
            "audit", "run", content.id, audience.id, "--bins", "4", "--epsilon", "1",
            "--receipt", str(self.receipt), "--profile", "lab", "--json",
        ]  # fmt: skip

    def start(self, *more: str) -> subprocess.Popen[str]:
        return start(*self.words, *more)

    def run(self, *more: str) -> tuple[str, str]:
        """Run to the end; return the audit it showed, and what it said."""
        shown, said = finished(self.start(*more))
        return json.loads(shown)["audit"], said

    def charges(self) -> int:
        return len(list(self.auditor.ledger.entries("charge")))


def signed_up(deployment: Deployment, url: str, **mandate: Any) -> Auditor:
    auditor = deployment.auditor(**mandate)
    key = home() / "lab.jwk"
    write_private(key, json.dumps(auditor._key.as_dict(private=True)))
    save_profile("lab", url, auditor.researcher_id, key)
    return auditor


PROGRAM = "from auditor_client.cli.__main__ import main; main()"
# Sends itself a signal in the first call of a function. The first two words name its module and it.
INTERRUPTED = f"""
import os, signal, sys
wanted = sys.argv.pop(1), sys.argv.pop(1)
def profile(frame, event, _):
    if (frame.f_globals.get("__name__"), frame.f_code.co_name) == wanted and event == "call":
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(profile)
{PROGRAM}
"""


def start(*words: str, program: str = PROGRAM) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def finished(process: subprocess.Popen[str]) -> tuple[str, str]:
    shown, said = process.communicate()
    assert process.returncode == 0, said
    return shown, said


def interrupt(
    process: subprocess.Popen[str], gate: Gate, moment: str, number: signal.Signals
) -> str:
    """Send a signal at this moment; return what the command said."""
    stop = gate._stop
    assert stop is not None
    while not stop.reached.wait(0.05):
        assert process.poll() is None, process.communicate()
    process.send_signal(number)
    _, said = process.communicate()
    gate.lift()
    assert "Traceback" not in said
    return said


@pytest.fixture
def command(sqlite_deployment: Deployment, gate: Gate, tmp_path: Path) -> Command:
    return Command(sqlite_deployment, gate, tmp_path)


def records() -> list[Path]:
    return sorted((home() / "pending").iterdir())


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_moment_and_run_again_it_is_charged_once(
    command: Command, gate: Gate, moment: str
) -> None:
    gate.stop(*MOMENTS[moment])
    process = command.start()
    interrupt(process, gate, moment, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    [record] = [path for path in records() if path.suffix == ".json"]
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700

    audit, said = command.run()
    assert "Continuing" in said
    assert "charged once" in said
    assert command.charges() == 1
    assert [made.id for made in command.auditor.audits.list()] == [audit]
    assert command.receipt.exists()
    assert records() == []


def test_a_completed_command_is_complete_and_the_next_is_another_audit(command: Command) -> None:
    first, _ = command.run()
    second, said = command.run()
    assert first != second
    assert "Continuing" not in said
    assert command.charges() == 2


def test_new_starts_another_audit_and_the_interrupted_one_can_still_be_continued(
    command: Command, gate: Gate
) -> None:
    gate.stop(*MOMENTS["waiting"])
    interrupt(command.start(), gate, "waiting", signal.SIGKILL)
    other, said = command.run("--new")
    assert "Continuing" not in said
    first, _ = command.run()
    assert first != other
    assert command.charges() == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_says_what_was_charged_and_how_to_fetch_it(
    command: Command, gate: Gate, number: signal.Signals, code: int
) -> None:
    gate.stop(*MOMENTS["waiting"])
    process = command.start()
    said = interrupt(process, gate, "waiting", number)
    assert process.returncode == code
    [audit] = command.auditor.audits.list()
    assert f"Charged: {audit.id}, {audit.price.debit} {audit.price.currency}." in said
    [fetch] = [line for line in said.splitlines() if line.startswith("To fetch it: auditor ")]
    command.auditor.audits.wait(audit.id, progress=False)
    shown, _ = finished(start(*fetch.removeprefix("To fetch it: auditor ").split(), "--json"))
    assert json.loads(shown)["audit"] == audit.id
    assert command.run()[0] == audit.id
    assert command.charges() == 1


@pytest.mark.parametrize("moment", ["sent, not received", "charged, not answered"])
def test_interrupted_before_the_answer_it_says_that_it_may_have_been_charged(
    command: Command, gate: Gate, moment: str
) -> None:
    gate.stop(*MOMENTS[moment])
    process = command.start()
    said = interrupt(process, gate, moment, signal.SIGINT)
    assert process.returncode == 130
    assert "may have been charged" in said
    assert "Run the same command again" in said
    command.run()
    assert command.charges() == 1


def test_interrupted_before_anything_is_sent_nothing_was_charged(
    command: Command, gate: Gate
) -> None:
    gate.stop("GET", "/v1/catalogue")
    process = command.start()
    said = interrupt(process, gate, "before", signal.SIGINT)
    assert process.returncode == 130
    assert "This command charged nothing" in said
    assert command.charges() == 0


def test_a_paid_result_that_nobody_reads_is_kept(command: Command) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-c", PROGRAM, *command.words]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 141
    [audit] = command.auditor.audits.list()
    assert f"To fetch it: auditor audit show {audit.id}" in done.stderr
    assert "Error" not in done.stderr
    assert command.run()[0] == audit.id
    assert command.charges() == 1


# A module and a function of it, which runs at this stage of the start.
STAGES = {
    "its modules load": ("auditor_client.errors", "<module>"),
    "its command is chosen": ("auditor_client.local.progress", "lines_when_piped"),
    "its profile is read": ("auditor_client.local.profiles", "load_profile"),
}


@pytest.mark.parametrize("stage", STAGES)
def test_interrupted_while_it_starts_it_says_so_in_one_line(stage: str, command: Command) -> None:
    process = start(*STAGES[stage], *command.words, program=INTERRUPTED)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.startswith("Interrupted.")
    assert said.count("\n") == 1
    assert command.charges() == 0


def test_identical_commands_in_parallel_are_charged_once(command: Command, gate: Gate) -> None:
    stop = gate.stop(*MOMENTS["waiting"])
    first = command.start()
    while not stop.reached.wait(0.05):
        assert first.poll() is None, first.communicate()
    others = [command.start() for _ in range(2)]
    for other in others:
        assert other.stderr is not None
        line = other.stderr.readline()
        assert f"Process {first.pid} runs the same audit" in line
    gate.lift()
    shown = [json.loads(finished(process)[0])["audit"] for process in (first, *others)]
    assert len(set(shown)) == 1
    assert command.charges() == 1
    assert records() == []


def test_the_lock_of_a_killed_command_is_free(command: Command, gate: Gate) -> None:
    stop = gate.stop(*MOMENTS["waiting"])
    first = command.start()
    while not stop.reached.wait(0.05):
        assert first.poll() is None, first.communicate()
    second = command.start()
    assert second.stderr is not None
    assert "runs the same audit" in second.stderr.readline()
    first.kill()
    first.communicate()
    gate.lift()
    shown, _ = finished(second)
    assert command.charges() == 1
    assert json.loads(shown)["audit"] == command.auditor.audits.list()[0].id


def test_a_damaged_record_stops_the_command_before_it_sends_anything(
    command: Command, gate: Gate
) -> None:
    gate.stop(*MOMENTS["waiting"])
    interrupt(command.start(), gate, "waiting", signal.SIGKILL)
    [record] = [path for path in records() if path.suffix == ".json"]
    record.write_text(record.read_text()[:40])
    for damaged in (record.read_text(), "", '{"version": 1}'):
        record.write_text(damaged)
        process = command.start()
        _, said = process.communicate()
        assert process.returncode == 1
        assert str(record) in said
        assert "may have been charged. Nothing was sent now." in said
        assert "--new" in said
    assert command.charges() == 1
    command.run("--new")
    assert command.charges() == 2


def test_a_piped_command_says_what_it_waits_for_and_from_whom(command: Command, gate: Gate) -> None:
    _, said = command.run()
    host = gate.url.removeprefix("http://")
    [audit] = command.auditor.audits.list()
    lines = said.splitlines()
    assert f"Charged: {audit.id}" in lines
    assert f"{audit.id} is released" in lines
    assert len(lines) == len(set(lines))
    assert all(host in line for line in lines if line.startswith("Waiting"))
