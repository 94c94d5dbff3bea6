"""Receipts of fixed releases by a fixed key, and the analysis of each of them as JSON."""

import json
import shutil
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey
from typer.testing import CliRunner

from auditor_client.cli.app import app
from openapi.resources import RELEASE
from privacy.receipts import add_receipt, sign
from tests.golden import FOLDER
from tests.ledgers import ed25519

KEY = OKPKey.import_key({**ed25519("golden").as_dict(private=True), "kid": "golden"})
NAMES = {"g0": "men", "g1": "women"}
_RELEASES = FOLDER / "releases"
# Only the researcher's machine has the sums of a two-party audit.
_SUMS = _RELEASES / "sums" / "two-party.json"


def receipts() -> dict[str, str]:
    """Return the receipt file of every kind of audit, as a researcher saves it."""
    made = {path.stem: _receipt(path) for path in sorted(_RELEASES.glob("*.json"))}
    return {f"receipts/{kind}.json": text for kind, text in made.items()}


def results(folder: Path) -> dict[str, str]:
    """Return what `auditor analyse --json` prints for each receipt; `folder` is for its files."""
    made, home = {}, folder / "home"
    keep_sums(home)
    for name, text in receipts().items():
        kind = Path(name).stem
        (folder / f"{kind}.json").write_text(text, encoding="utf-8")
        made[f"results/{kind}.json"] = _analyse(folder / f"{kind}.json", home)
    return made


def _receipt(path: Path) -> str:
    """Sign a release as the service does, through the wire model of its kind."""
    stated = json.loads(path.read_text(encoding="utf-8"))
    release = RELEASE.validate_python({**stated, "receipt": ""})
    statement = release.model_dump(mode="json", exclude={"receipt"})
    receipt = sign(statement, KEY)
    assert json.loads(add_receipt(statement, KEY))["receipt"] == receipt
    document = {
        "format": "platform-auditor/receipt/v1",
        "url": "https://audits.example",
        "receipt": receipt,
        "keys": {"keys": [KEY.as_dict(private=False)]},
        "names": NAMES,
        "contents": _contents(path.name),
        "proof": None,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _contents(name: str) -> list[Any]:
    """Return the contents of a release whose analysis names them."""
    path = _RELEASES / "contents" / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def keep_sums(home: Path) -> None:
    audit_id = json.loads((_RELEASES / "two-party.json").read_text(encoding="utf-8"))["audit_id"]
    (home / "sums").mkdir(parents=True)
    shutil.copy(_SUMS, home / "sums" / f"{audit_id}.json")


def _analyse(receipt: Path, home: Path) -> str:
    runner = CliRunner(env={"PLATFORM_AUDITOR_HOME": str(home)})
    shown = runner.invoke(app, ["analyse", str(receipt), "--json"])
    assert shown.exit_code == 0, shown.output
    return shown.stdout
