"""The notebooks of docs/examples, run as a reader runs them, and what they claim.

Platforms and volunteers are always the same; only the noise of a release is left to chance. Where a
verdict is asserted, its limit was, over twelve simulated releases, at least 11 of its standard
deviations away from alpha: that it is on the other side has a probability far below 1e-6.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
_READY, _PATIENCE = "Stop with Ctrl-C", 400

# Three platforms learn their models first, which takes its time on a busy machine.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder like the project's, with `make serve` running in it."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "docs" / "examples").mkdir(parents=True)
    said = folder / "serve.txt"
    command = [sys.executable, "-m", "api.operations.cli", "demo", "--serve"]
    with said.open("wb") as out:
        serving = subprocess.Popen(
            [*command, "--folder", "demo-output"],
            cwd=folder,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        _await_ready(serving, said)
        yield folder
        # As Ctrl-C does: everybody is told, and nobody is left, nor complains.
        os.killpg(serving.pid, signal.SIGINT)
        assert serving.wait(timeout=60) == 0
        assert "Traceback" not in said.read_text()
        with pytest.raises(ProcessLookupError):
            os.killpg(serving.pid, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(serving.pid, signal.SIGKILL)
        serving.wait()


def _await_ready(serving: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while _READY not in said.read_text():
        assert serving.poll() is None, said.read_text()
        assert time.monotonic() < deadline, said.read_text()
        time.sleep(0.2)


def test_serve_prints_a_link_for_each_of_its_people(project: Path) -> None:
    said = (project / "serve.txt").read_text()
    found = re.findall(r"(researcher|regulator|operator) +(http\S+/console/sign-in\S+)", said)
    assert [persona for persona, _ in found] == ["researcher", "regulator", "operator"] * 3
    for persona, link in found:
        page = httpx2.get(link, headers={"Accept": "text/html"}).text
        role = "auditor" if persona == "researcher" else persona
        assert re.search(rf"signs you in as <strong>[^<]+</strong>, {role}\.", page), persona


@pytest.fixture(autouse=True)
def own_jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter keeps its files here, not in the tester's home."""
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def executed(name: str, folder: Path, claims: str) -> tuple[Any, dict[str, Any]]:
    """The notebook after running, and these names of it, as its last cell could print them."""
    notebook = read(EXAMPLES / name)
    last = f"import json\nprint(json.dumps({claims}))"
    notebook.cells.append(nbformat.v4.new_code_cell(last))  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    found: dict[str, Any] = json.loads(notebook.cells.pop().outputs[0]["text"])
    return notebook, found


def charts(notebook: Any) -> list[Any]:
    """The charts that showed themselves."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [output.get("data", {}) for output in outputs]
    return [data for data in shown if data.get("text/plain", "").startswith("alt.")]


def test_a_job_ad_is_fair_on_one_platform_and_unfair_on_the_other(project: Path) -> None:
    notebook, found = executed(
        "job_ad_by_gender.ipynb",
        project / "docs" / "examples",
        "{'fair': gap.verdict(ALPHA), 'biased': biased_gap.verdict(ALPHA),"
        " 'limits': [gap.at_most, biased_gap.at_least], 'needed': needed, 'printed': printed,"
        " 'members': min(audience.members.values()), 'files': [str(report), str(receipt)]}",
    )
    assert (found["fair"], found["biased"]) == ("fair", "unfair"), found
    assert found["needed"] < found["members"]
    assert found["needed"] < found["printed"] / 5
    assert len(charts(notebook)) == 6
    _written(project, found["files"])


def test_housing_is_unfair_by_race_and_fair_by_gender(project: Path) -> None:
    notebook, found = executed(
        "housing_by_race_and_gender.ipynb",
        project / "docs" / "examples",
        "{'all': gap.verdict(ALPHA), 'race': by_race.verdict(ALPHA),"
        " 'gender': by_gender.verdict(ALPHA), 'limits': [by_race.at_least, by_gender.at_most],"
        " 'pairs': {name: pair.verdict(ALPHA) for name, pair in pairs.items()},"
        " 'files': [str(report), str(receipt)]}",
    )
    assert (found["all"], found["race"], found["gender"]) == ("unfair", "unfair", "fair"), found
    for name, verdict in found["pairs"].items():
        races = {group.rpartition(" × ")[2] for group in name.split(" / ")}
        assert verdict == ("unfair" if len(races) == 2 else "fair"), found
    assert len(charts(notebook)) == 5
    _written(project, found["files"])


def test_political_content_is_told_apart_and_the_control_is_not(project: Path) -> None:
    notebook, found = executed(
        "political_content_by_affiliation.ipynb",
        project / "docs" / "examples",
        "{'verdicts': verdicts, 'widest': sorted(max(pairs, key=lambda p: p.low).groups),"
        " 'limits': {n: [g.at_least, g.at_most] for n, g in gaps.items()},"
        " 'epsilons': plan.epsilons, 'covered': together.covered, 'files': [str(report)]}",
    )
    expected = {"climate": "unfair", "liberty": "unfair", "football": "fair"}
    assert found["verdicts"] == expected, found
    assert found["widest"] == ["left", "right"]
    assert found["epsilons"] == pytest.approx([0.5] * 3, abs=1e-3)
    assert found["covered"] is True
    assert len(charts(notebook)) == 3
    _written(project, found["files"])


def test_planning_says_what_300_volunteers_can_tell(tmp_path: Path) -> None:
    # Seeds are fixed: nothing here is left to chance.
    notebook, found = executed(
        "planning_with_300_volunteers.ipynb",
        tmp_path,
        "{'study': study, 'needed': needed, 'known': known, 'noisy': noisy, 'after': after,"
        " 'split': split.power, 'halves': halves, 'most': plan.most, 'single': plan.single,"
        " 'at_alpha': forecasts[2].inconclusive, 'rehearsal': gap.verdict(ALPHA)}",
    )
    assert found["needed"] <= 150
    assert found["study"]["power if fair"] >= 0.8
    assert found["study"]["power at a gap of 0.6"] >= 0.8
    assert found["known"] < found["noisy"] < 0.3
    assert found["at_alpha"] > 0.85
    assert found["split"] > found["halves"]
    assert found["after"] < found["single"] < found["most"]
    assert found["rehearsal"] == "unfair"
    assert len(charts(notebook)) == 2


def _written(project: Path, files: list[str]) -> None:
    for file in files:
        assert (project / "docs" / "examples" / file).stat().st_size > 1_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    # Answers of a platform are random: what one run printed is not what the next one will.
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert code
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


def test_every_notebook_is_run_here_and_linked_for_researchers() -> None:
    linked = (EXAMPLES.parent / "how-to" / "researchers" / "run-an-audit.md").read_text()
    tested = Path(__file__).read_text()
    for path in NOTEBOOKS:
        assert f"(../../examples/{path.name})" in linked
        assert f'"{path.name}"' in tested
