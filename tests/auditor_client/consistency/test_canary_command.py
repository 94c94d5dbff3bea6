"""`auditor canary`: plans, and checks of saved receipts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app
from tests.auditor_client.examples import finished, price


def run(*words: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["canary", *map(str, words)], env={"COLUMNS": "300"})
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    counts = {"g0": [500, 500, 500, 500, 0], "g1": [500, 500, 500, 500, 0]}
    made = finished(counts, kind="bins", paid=price(1.0, None))
    return made.save_receipt(tmp_path / "audit.json")


def test_deliveries_are_checked_against_a_receipt(receipt: Path) -> None:
    ask = ("field", receipt, "--json", "--shown", "woman=300/1000", "--shown")
    found = json.loads(run(*ask, "man=700/1000", code=1))
    assert (found["verdict"], found["groups"]) == ("irreconcilable", ["man", "woman"])
    assert json.loads(run(*ask, "man=310/1000"))["verdict"] != "irreconcilable"
    run("field", receipt, "--shown", "woman:3", code=1)


def test_canaries_in_an_audience_are_counted(receipt: Path) -> None:
    [found] = json.loads(run("presence", receipt, "--json", "--canaries", "woman=1990"))
    assert found["verdict"] == "consistent"
    [found] = json.loads(run("presence", receipt, "--json", "--canaries", "woman=2300", code=1))
    assert found["verdict"] == "irreconcilable"


def test_a_plan_names_shares_edges_and_the_lowest_rate(receipt: Path) -> None:
    asked = ("plan", "0.2", "--people", "2000", "--canaries", "500", "--receipt", receipt, "--json")
    found = json.loads(run(*asked))
    assert found["power"] > 0.5
    assert found["edges"] == sorted(found["edges"])
    assert 0 < found["lowest_rate"] < 0.2
