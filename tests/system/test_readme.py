"""The snippet of the page for researchers as printed, and the demo that README names."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.csv
import pytest
from joserfc.jwk import OKPKey

from api.platforms.interfaces import Platform
from auditor_client import save_profile
from auditor_client.local.private_files import write_private
from platform_sim import SimulatedPlatform, recruit
from tests.world import Deployment

PAGE = Path(__file__).parents[2] / "docs/how-to/researchers/run-an-audit.md"


def snippet() -> str:
    [code] = re.findall(r"as printed -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert isinstance(code, str)
    return code


def test_the_snippet_runs_as_printed(
    sqlite_deployment: Deployment,
    platform: Platform,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert isinstance(platform.people, SimulatedPlatform)
    frame = recruit(platform.people.world, 800, seed=5)
    pyarrow.csv.write_csv(frame, tmp_path / "participants.csv")
    key = OKPKey.generate_key("Ed25519")
    lab = sqlite_deployment.regulator.auditors.add("Readers")
    sqlite_deployment.grant(lab.id, "10")
    reader = sqlite_deployment.regulator.researchers.add(
        "Reader", auditor_id=lab.id, jwk=key.as_dict(private=False)
    )
    write_private(tmp_path / "key.jwk", json.dumps(key.as_dict(private=True)))
    save_profile("demo", sqlite_deployment.url, reader.id, tmp_path / "key.jwk")
    monkeypatch.chdir(tmp_path)

    names: dict[str, object] = {}
    exec(compile(snippet(), PAGE.name, "exec"), names)
    sqlite_deployment.clients.push(lambda *_: names["auditor"].close())  # type: ignore[attr-defined]

    efg, low, high, verdict = capsys.readouterr().out.split()[-4:]
    assert 0 <= float(low) <= float(high) <= 1
    assert float(efg) > 0
    assert verdict in {"fair", "inconclusive"}


@pytest.mark.long
def test_the_demo_gives_both_verdicts_and_writes_what_it_says(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "api.operations.cli",
        "demo",
        "--folder",
        str(tmp_path / "demo"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = re.findall(r"Verdict\s+(\w+)", done.stdout)
    assert verdicts == ["fair", "unfair", "unfair"]
    for name in ("fair", "biased", "learned"):
        [folder] = (tmp_path / "demo").glob(f"*/{name}")
        assert "<svg" in (folder / "report.html").read_text()
        assert (folder / "receipt.json").exists()
