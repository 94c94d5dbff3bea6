"""`auditor ledger` and `auditor receipt`, as a regulator and a researcher type them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from auditor_client.cli.app import app
from auditor_client.local.private_files import write_private
from auditor_client.local.profiles import save_profile
from platform_sim import SOFTWARE_JOB, World
from tests.system.raw import usernames
from tests.world import Deployment


def run(*words: str | Path, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "300"})
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def folder(sqlite_deployment: Deployment, world: World, tmp_path: Path) -> Path:
    """A folder with profiles of both, and the receipt of an audit."""
    regulator = sqlite_deployment.regulator
    auditor = sqlite_deployment.auditor()
    for name, who in (("oversight", regulator), ("lab", auditor)):
        write_private(tmp_path / f"{name}.jwk", json.dumps(who._key.as_dict(private=True)))
        save_profile(name, sqlite_deployment.url, who._researcher_id, tmp_path / f"{name}.jwk")
    names = usernames(world, 20)
    table = pa.table({"username": names, "group": ["a", "b"] * 10})
    audience = auditor.audiences.upload(table, id="username", by="group")
    content = auditor.contents.upload(**SOFTWARE_JOB)
    audit = auditor.audits.run(content, audience, bins=4, epsilon=1, progress=False)
    sqlite_deployment.service.checkpointer().once()
    audit.save_receipt(tmp_path / "receipt.json")
    run("ledger", "keys", "--out", tmp_path / "keys.json", "-p", "oversight")
    return tmp_path


@pytest.mark.parametrize("name", ["ledger.jsonl", "ledger.parquet"])
def test_a_regulator_exports_and_verifies(folder: Path, name: str) -> None:
    run("ledger", "export", "--out", folder / name, "-p", "oversight")
    done = run("ledger", "verify", folder / name, "--keys", folder / "keys.json")
    assert "All checks hold" in done.output
    found = json.loads(
        run("ledger", "verify", folder / name, "--keys", folder / "keys.json", "--json").stdout
    )
    assert sum(found["entries"].values()) == found["size"]


def test_a_line_that_was_changed_is_named_and_the_exit_code_says_so(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    run("ledger", "export", "--out", path, "-p", "oversight")
    lines = path.read_text().splitlines(keepends=True)
    number = next(at for at, line in enumerate(lines) if '"kind":"charge"' in line)
    lines[number] = lines[number].replace('"currency":"epsilon"', '"currency":"rho"')
    path.write_text("".join(lines))
    done = run("ledger", "verify", path, "--keys", folder / "keys.json", code=1)
    assert f"entry {number - 1}" in done.output


@pytest.mark.parametrize("cut", [0, 1, 5, -1])
def test_a_file_that_was_cut_is_refused(folder: Path, cut: int) -> None:
    path = folder / "ledger.jsonl"
    run("ledger", "export", "--out", path, "-p", "oversight")
    lines: Sequence[str] = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:cut]))
    run("ledger", "verify", path, "--keys", folder / "keys.json", code=1)


@pytest.mark.parametrize("text", ["", "{}", "[]", "PAR1", "null\n", "\x00\x01"])
def test_what_is_no_export_is_refused_in_words(folder: Path, text: str) -> None:
    (folder / "other").write_text(text)
    done = run("ledger", "verify", folder / "other", "--keys", folder / "keys.json", code=1)
    assert done.output.startswith("Error:")
    done = run("ledger", "verify", folder / "receipt.json", "--keys", folder / "other", code=1)
    assert done.output.startswith("Error:")


def test_a_researcher_verifies_its_own_entries_and_its_receipt(folder: Path) -> None:
    run("ledger", "export", "--out", folder / "mine.jsonl", "-p", "lab")
    done = run("ledger", "verify", folder / "mine.jsonl", "--keys", folder / "keys.json")
    assert "the entries of auditor_" in done.output
    receipt = folder / "receipt.json"
    assert "all holds" in run("receipt", "verify", receipt, "--keys", folder / "keys.json").output


def test_a_receipt_without_a_proof_gets_one(folder: Path) -> None:
    receipt = folder / "receipt.json"
    saved = json.loads(receipt.read_text())
    receipt.write_text(json.dumps(saved | {"proof": None}))
    done = run("receipt", "verify", receipt, "--keys", folder / "keys.json", code=1)
    assert "auditor receipt prove" in done.output
    run("receipt", "prove", receipt, "-p", "lab")
    run("receipt", "verify", receipt, "--keys", folder / "keys.json")


def test_a_witness_signs_and_others_hold_the_platform_to_it(folder: Path) -> None:
    head, keys = folder / "head.txt", folder / "keys.json"
    run("ledger", "cosign", "--keys", keys, "--out", head, "-p", "oversight")
    run("ledger", "head", "--keys", keys, "--witnessed", head, "-p", "lab")
    run("ledger", "export", "--out", folder / "ledger.jsonl", "-p", "oversight")
    run("ledger", "verify", folder / "ledger.jsonl", "--keys", keys, "--witnessed", head)


def test_entries_are_listed(folder: Path) -> None:
    listed = json.loads(run("ledger", "entries", "--kind", "mandate", "-p", "lab", "--json").stdout)
    assert [entry["kind"] for entry in listed] == ["mandate"]
