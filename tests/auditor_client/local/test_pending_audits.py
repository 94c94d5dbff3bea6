"""Records of audits that are under way: who continues them, who shares them, when they end."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import OKPKey

from auditor_client import AuditFailedError, Auditor, ConnectionBrokenError
from auditor_client.errors import BudgetExhaustedError, PendingAuditError, ServiceError
from auditor_client.local.file_locks import FileLock, HeldLock
from auditor_client.local.pending_audits import PendingAudits
from auditor_client.local.progress import lines_when_piped
from auditor_client.transport.retries import Retries
from tests.auditor_client.audits.test_client import PATH, Stage, events
from tests.auditor_client.examples import AUDIENCE_ID, AUDIT_ID, CONTENT_ID
from tests.auditor_client.scripted import HANG_UP, ScriptedService, refuse

KEY = OKPKey.generate_key("Ed25519")
ASKED = {"kind": "match-count", "epsilon": "1"}


class StoppedError(Exception):
    """The program ends here."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "home" / "pending"


@pytest.fixture
def stage(service: ScriptedService) -> Stage:
    return Stage(service)


@pytest.fixture
def auditor(service: ScriptedService, stage: Stage, folder: Path) -> Iterator[Auditor]:
    quick = Retries(attempts=1)
    with Auditor(service.url, "r", KEY, retries=quick, pending=folder) as made:
        yield made


def run(auditor: Auditor, **options: Any) -> Any:
    return auditor.audits.run(CONTENT_ID, AUDIENCE_ID, bins=2, progress=False, **options)


def keys_of(service: ScriptedService) -> list[str]:
    return [asked.headers["idempotency-key"] for asked in service.requests("POST", "/v1/audits")]


def pending(folder: Path, researcher: str = "r") -> PendingAudits:
    return PendingAudits(folder, "https://audit.example", researcher)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_signed_request_is_on_disk_when_it_is_sent(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    found: list[dict[str, Any]] = []

    def seen(asked: Any) -> Any:
        [path] = folder.glob("*.json")
        assert path.stat().st_mode & 0o777 == 0o600
        found.append(json.loads(path.read_text()) | {"sent": asked})
        return HANG_UP

    service.on("POST", "/v1/audits", seen)
    with pytest.raises(ConnectionBrokenError) as caught:
        run(auditor)
    assert any("Run the same call again" in note for note in caught.value.__notes__)
    [record] = found
    assert record["key"] == record["sent"].headers["idempotency-key"]
    assert record["signature"] == record["sent"].headers["statement-signature"]
    assert record["request"] == json.loads(record["sent"].body)


def test_the_same_call_continues_with_the_same_key_and_signature(
    service: ScriptedService, stage: Stage, auditor: Auditor, folder: Path
) -> None:
    service.on("POST", "/v1/audits", HANG_UP)
    with pytest.raises(ConnectionBrokenError):
        run(auditor)
    service.on("POST", "/v1/audits", stage.audit("charged", 202))
    run(auditor, epsilon="1.0")
    first, second = service.requests("POST", "/v1/audits")
    for name in ("idempotency-key", "statement-signature"):
        assert first.headers[name] == second.headers[name]
    assert files(folder) == []


def test_a_signature_by_an_earlier_key_is_made_again(
    service: ScriptedService, stage: Stage, auditor: Auditor, folder: Path
) -> None:
    service.on("POST", "/v1/audits", HANG_UP)
    with pytest.raises(ConnectionBrokenError):
        run(auditor)
    service.on("POST", "/v1/audits", stage.audit("charged", 202))
    other = OKPKey.generate_key("Ed25519")
    with Auditor(service.url, "r", other, pending=folder) as later:
        run(later)
    first, second = service.requests("POST", "/v1/audits")
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.headers["statement-signature"] != second.headers["statement-signature"]


def test_another_request_another_researcher_and_new_have_keys_of_their_own(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    service.on("POST", "/v1/audits", HANG_UP)
    with Auditor(service.url, "s", KEY, retries=Retries(attempts=1), pending=folder) as other:
        for who, options in (
            (auditor, {}),
            (auditor, {"epsilon": 2}),
            (auditor, {"new": True}),
            (other, {}),
        ):
            with pytest.raises(ConnectionBrokenError):
                run(who, **options)
    assert len(set(keys_of(service))) == 4


def test_a_charged_audit_is_followed_without_being_sent_again(
    service: ScriptedService, stage: Stage, auditor: Auditor
) -> None:
    service.on("GET", f"{PATH}/release", refuse("unavailable"))
    with pytest.raises(ServiceError):
        run(auditor)
    stage.release(stage.made)
    assert run(auditor).id == AUDIT_ID
    assert len(keys_of(service)) == 1


def test_each_completed_run_has_a_key_of_its_own(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    run(auditor)
    run(auditor)
    assert len(set(keys_of(service))) == 2
    assert files(folder) == []


def test_a_refusal_that_charged_nothing_ends_the_record(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    amounts: dict[str, Any] = {"spent": "1", "asked": "1", "remaining": "0", "limit": "1"}
    service.on("POST", "/v1/audits", refuse("budget-exhausted", **amounts))
    with pytest.raises(BudgetExhaustedError):
        run(auditor)
    assert files(folder) == []


def test_a_failed_audit_ends_the_record(
    service: ScriptedService, stage: Stage, auditor: Auditor, folder: Path
) -> None:
    service.on("GET", f"{PATH}/events", events("failed"))
    service.on("GET", PATH, stage.audit("failed"))
    with pytest.raises(AuditFailedError):
        run(auditor)
    assert files(folder) == []


def test_a_result_that_was_not_saved_is_found_again(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    def save(code: int) -> None:
        with auditor.audits.until_saved():
            run(auditor)
            if code:
                raise OSError(code, "the disk is full")

    with pytest.raises(OSError, match="full"):
        save(28)
    save(0)
    assert len(keys_of(service)) == 1
    assert files(folder) == []


def test_a_repeated_request_in_one_block_is_another_audit_and_both_are_found_again(
    service: ScriptedService, auditor: Auditor, folder: Path
) -> None:
    def twice(*, fails: bool) -> None:
        with auditor.audits.until_saved():
            run(auditor)
            run(auditor)
            if fails:
                raise StoppedError

    with pytest.raises(StoppedError):
        twice(fails=True)
    assert len(set(keys_of(service))) == 2
    twice(fails=False)
    assert len(keys_of(service)) == 2
    assert files(folder) == []


def test_parallel_claims_share_one_record(folder: Path) -> None:
    keys: list[str] = []
    held, done = threading.Event(), threading.Event()

    def first() -> None:
        with pending(folder).claimed(ASKED) as claim:
            keys.append(claim.save(signature="signed").key)
            held.set()
            assert done.wait(60)

    def other() -> None:
        with pending(folder).claimed(ASKED) as claim:
            keys.append(claim.record.key)

    threads = [threading.Thread(target=first), *(threading.Thread(target=other) for _ in range(3))]
    threads[0].start()
    assert held.wait(60)
    for thread in threads[1:]:
        thread.start()
    for thread in threads[1:]:
        thread.join(0.5)
        assert thread.is_alive()
    done.set()
    for thread in threads:
        thread.join()
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert files(folder) == []


def test_a_thread_that_met_the_lock_before_the_record_pays_once(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    keys: list[str] = []

    def other() -> None:
        with lines_when_piped(), pending(folder).claimed(ASKED) as claim:
            keys.append(claim.record.key)

    thread = threading.Thread(target=other)
    with pending(folder).claimed(ASKED) as claim:
        keys.append(claim.record.key)
        thread.start()
        until(lambda: "runs the same audit" in capfd.readouterr().err)
        # The other one sleeps. All of the audit happens before it looks again.
        claim.save(signature="signed")
    thread.join()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert files(folder) == []


def test_a_process_that_met_the_lock_before_the_record_pays_once(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path;"
        "from auditor_client.local.progress import lines_when_piped;"
        "from tests.auditor_client.local.test_pending_audits import ASKED, pending;"
        "lines = lines_when_piped(); lines.__enter__();"
        "found = pending(Path(sys.argv[1])).claimed(ASKED);"
        "print(found.__enter__().record.key); found.__exit__(None, None, None)"
    )
    command = [sys.executable, "-u", "-c", code, str(folder)]
    with pending(folder).claimed(ASKED) as claim:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stderr
        assert "runs the same audit" in child.stderr.readline()
        claim.save(signature="signed")
    assert child.communicate()[0].strip() == claim.record.key
    assert files(folder) == []


def test_a_process_that_finds_a_lock_reads_its_note_even_after_removal(tmp_path: Path) -> None:
    """The holder has locked the file, has not written the note yet, and is quick from then on."""
    path, found = tmp_path / "lock", list[FileLock | HeldLock]()
    with path.open("w+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        thread = threading.Thread(target=lambda: found.append(FileLock.acquire(path, "other")))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        file.write(b"mine\n1\n")
        path.unlink()
        thread.join()
    assert found == [HeldLock("1", "mine")]


def test_a_note_that_a_crash_left_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("old\n1\n")
    lock = FileLock.acquire(path, "new")
    assert isinstance(lock, FileLock)
    assert FileLock.acquire(path, "other") == HeldLock(str(os.getpid()), "new")
    lock.release()


def test_an_error_before_anything_is_sent_leaves_no_record(folder: Path) -> None:
    with pytest.raises(StoppedError), pending(folder).claimed(ASKED):
        raise StoppedError
    assert files(folder) == []


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        FileLock.acquire(path, "child")
        os.write(write, b"x")
        signal.pause()
    os.read(read, 1)
    assert FileLock.acquire(path, "parent") == HeldLock(str(child), "child")
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert isinstance(FileLock.acquire(path, "parent"), FileLock)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 2}', "null"])
def test_a_damaged_record_is_refused_and_stays(folder: Path, text: str) -> None:
    def fail() -> None:
        with pending(folder).claimed(ASKED) as claim:
            claim.save(signature="signed")
            raise StoppedError

    with pytest.raises(StoppedError):
        fail()
    [record] = folder.glob("*.json")
    record.write_text(text)
    for _ in range(2):
        with (
            pytest.raises(PendingAuditError, match=record.name),
            pending(folder).claimed(ASKED),
        ):
            raise AssertionError
    with pending(folder).claimed(ASKED, new=True) as claim:
        assert claim.slot is not None
        assert claim.slot.number == 2
    assert record.exists()


def test_a_record_of_another_request_is_refused(folder: Path) -> None:
    def left(asked: dict[str, str]) -> Path:
        before = set(folder.glob("*.json"))
        with pytest.raises(StoppedError), pending(folder).claimed(asked) as claim:  # noqa: PT012
            claim.save(signature="signed")
            raise StoppedError
        [made] = set(folder.glob("*.json")) - before
        return made

    first, second = left(ASKED), left({**ASKED, "epsilon": "2"})
    second.write_bytes(first.read_bytes())
    with pytest.raises(PendingAuditError), pending(folder).claimed({**ASKED, "epsilon": "2"}):
        raise AssertionError


def test_without_a_folder_or_with_a_key_nothing_is_written(
    service: ScriptedService, stage: Stage, auditor: Auditor, folder: Path
) -> None:
    with Auditor(service.url, "r", KEY) as plain:
        run(plain)
    run(auditor, idempotency_key="mine-and-only")
    assert keys_of(service)[1] == "mine-and-only"
    assert not folder.exists()
