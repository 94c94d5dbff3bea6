"""`platform-auditor init`: what it creates is its owner's alone, whatever the umask."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from joserfc.jwk import OKPKey
from sqlalchemy import text
from typer.testing import CliRunner

from api.db import Store
from api.kernel.settings import load_settings
from api.operations.cli import app


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    """A umask that takes no right from anybody."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "regulator.jwk"
    path.write_text(json.dumps(OKPKey.generate_key("Ed25519").as_dict(private=False)))
    return path


def initialised(folder: Path, key: Path) -> str:
    arguments = ["--issuer", "http://127.0.0.1:8000", "--regulator-key", str(key)]
    done = CliRunner().invoke(app, ["init", str(folder), *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}


def test_new_files_are_their_owners_alone(tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "deployment"
    initialised(folder, key)
    store = Store(load_settings(folder / "platform-auditor.toml").database_url)
    with store.write() as session:  # makes the log and the shared memory
        session.execute(text("UPDATE ledger_head SET size = size"))
    found = modes(folder)
    store.close()
    assert found == {
        "deployment": 0o700,
        "platform-auditor.toml": 0o600,
        "platform-auditor.sqlite": 0o600,
        "platform-auditor.sqlite-wal": 0o600,
        "platform-auditor.sqlite-shm": 0o600,
    }


def test_the_doctor_finds_nothing_wrong_with_it(tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "deployment"
    initialised(folder, key)
    config = str(folder / "platform-auditor.toml")
    # A GiB of disk is free where tests run, or it is not.
    found = CliRunner().invoke(app, ["doctor", "--config", config, "--no-adapter", "--json"])
    outcomes = {each["check"]: each["outcome"] for each in json.loads(found.output)}
    private = ("settings-are-private", "database-is-private")
    assert {outcomes[name] for name in private} == {"ok"}
    assert outcomes["issuer-is-https"] == "warning"
    (folder / "platform-auditor.sqlite").chmod(0o644)
    assert CliRunner().invoke(app, ["doctor", "--config", config, "--no-adapter"]).exit_code == 1


def test_an_empty_folder_is_closed(tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "deployment"
    folder.mkdir(mode=0o755)
    assert "chmod" not in initialised(folder, key)
    assert modes(folder)["deployment"] == 0o700


def test_a_folder_in_use_stays_open_and_is_named(tmp_path: Path, key: Path) -> None:
    folder = tmp_path / "deployment"
    folder.mkdir(mode=0o755)
    (folder / "notes.txt").touch()
    assert f"chmod 700 {folder}" in initialised(folder, key)
    assert modes(folder)["deployment"] == 0o755
    assert modes(folder)["platform-auditor.sqlite"] == 0o600


@pytest.mark.parametrize("command", ["serve", "worker", "doctor", "persons"])
@pytest.mark.parametrize(
    ("text", "named"),
    [("nonsense = 3", "nonsense"), ("a = 1\n?", "line 2"), ("issuer = 'x'", "database_url")],
)
def test_settings_that_cannot_be_read_end_a_command_with_a_line_for_each_fault(
    command: str, text: str, named: str, tmp_path: Path
) -> None:
    config = tmp_path / "platform-auditor.toml"
    config.write_text(text)
    words = [command, "verify"] if command == "persons" else [command]
    done = CliRunner().invoke(app, [*words, "--config", str(config)])
    assert (done.exit_code, type(done.exception)) == (2, SystemExit)
    lines = done.stderr.splitlines()
    assert all(line.startswith(f"{config}: ") for line in lines)
    assert any(named in line for line in lines)
