"""The committed vectors of a whole ledger: what is good verifies, and every twin is found out.

By the library, and by the commands as a regulator types them.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app
from auditor_client.errors import ReceiptError
from auditor_client.ledger import verify_receipt
from auditor_client.ledger.seen_checkpoints import remember
from auditor_client.local.saved_receipt import SavedReceipt
from privacy.errors import InvalidLedgerError
from privacy.ledger.replay import KINDS
from privacy.ledger.trust import Trust
from privacy.ledger.verify import Verified, verify
from tests.refusals import refuses
from tests.vectors.ledger import FOLDER, GOOD, KEYS, Twin, lines_of, twins
from tests.vectors.ledger.__main__ import made

TRUST = Trust.parse((FOLDER / KEYS).read_bytes())
RECEIPT = "receipt.json"
ALL = twins()
each_twin = pytest.mark.parametrize("twin", ALL, ids=[twin.name for twin in ALL])


def checked(
    name: str,
    lines: list[str],
    folder: Path,
    seen: Sequence[str] = (),
    witnessed: Sequence[str] = (),
) -> Verified | None:
    """By the library."""
    if name == RECEIPT:
        file = folder / name
        file.write_text("\n".join(lines), encoding="utf-8")
        verify_receipt(SavedReceipt.load(file), TRUST)
        return None
    first, *entries = (line.encode() for line in lines)
    return verify(first, entries, TRUST, seen=seen, witnessed=witnessed)


def arguments(name: str, file: Path) -> list[str]:
    noun = "receipt" if name == RECEIPT else "ledger"
    return [noun, "verify", str(file), "--keys", str(FOLDER / KEYS)]


@pytest.mark.parametrize("name", GOOD)
def test_what_is_good_verifies(name: str, tmp_path: Path) -> None:
    checked(name, lines_of(name), tmp_path)
    done = CliRunner().invoke(app, arguments(name, FOLDER / name))
    assert done.exit_code == 0, done.output


@each_twin
def test_the_library_finds_the_first_bad_entry(twin: Twin, tmp_path: Path) -> None:
    with refuses((InvalidLedgerError, ReceiptError), twin.case) as found:
        checked(twin.of, twin.lines(), tmp_path, seen=twin.seen, witnessed=twin.witnessed)
    if isinstance(found.value, InvalidLedgerError):
        assert found.value.number == twin.entry


@each_twin
def test_the_command_says_what_the_library_says(twin: Twin, tmp_path: Path) -> None:
    with refuses((InvalidLedgerError, ReceiptError), twin.case) as found:
        checked(twin.of, twin.lines(), tmp_path, seen=twin.seen, witnessed=twin.witnessed)
    file = tmp_path / twin.of
    file.write_text("".join(f"{line}\n" for line in twin.lines()), encoding="utf-8")
    for note in twin.seen:
        remember(TRUST.origin, note)
    options = []
    for number, note in enumerate(twin.witnessed):
        path = tmp_path / f"{number}.note"
        path.write_text(note, encoding="utf-8")
        options += ["--witnessed", str(path)]
    done = CliRunner().invoke(app, [*arguments(twin.of, file), *options])
    assert done.exit_code == 1
    said = " ".join(done.stderr.split())
    assert " ".join(str(found.value).split()) in said
    named = re.findall(r"entry (\d+):", said)
    assert named == ([] if twin.entry is None else [str(twin.entry)])


def test_what_is_seen_and_witnessed_is_what_gives_some_of_them_away(tmp_path: Path) -> None:
    """Without it they verify: nobody can find a lie that is whole in itself."""
    whole = [twin for twin in ALL if twin.seen]
    assert len(whole) == 3
    for twin in whole:
        checked(twin.of, twin.lines(), tmp_path)


@pytest.mark.parametrize("name", ["export.jsonl", RECEIPT])
def test_from_a_shell(name: str, tmp_path: Path) -> None:
    bad = next(twin for twin in ALL if twin.of == name)
    file = tmp_path / name
    file.write_text("".join(f"{line}\n" for line in bad.lines()), encoding="utf-8")
    for path, status in ((FOLDER / name, 0), (file, 1)):
        command = [str(Path(sys.executable).with_name("auditor")), *arguments(name, path)]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == status, done.stderr


def test_the_export_has_an_entry_of_every_kind(tmp_path: Path) -> None:
    found = checked("export.jsonl", lines_of("export.jsonl"), tmp_path)
    assert found is not None
    assert found.counts.keys() == KINDS.keys()


def test_they_are_made_the_same_again() -> None:
    for name, text in made().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, name


def test_the_command_says_what_it_took_as_stated() -> None:
    """It begins with a charge of the format before, and charges a sample of that format later."""
    arguments_ = [*arguments("export.jsonl", FOLDER / "export.jsonl"), "--forgetful"]
    done = CliRunner().invoke(app, [*arguments_, "--json"])
    notices = json.loads(done.stdout)["notices"]
    assert notices == [
        {"code": "audience-older", "about": "match-count", "charges": 1},
        {"code": "charge-older", "about": "score-histogram", "charges": 1},
    ]
    assert "Notice: 1 charge(s)" in CliRunner().invoke(app, arguments_).output
