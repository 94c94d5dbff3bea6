import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app


@pytest.fixture
def people(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(
        "email,surname,zip\nann@example.org,García,78207\nbo@example.org,Nguyen,95122\n"
    )
    return file


def test_columns_of_groups_are_added_to_a_table(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "shares.csv"
    done = CliRunner().invoke(app, ["bisg", str(people), "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert shown["groups"] == "white,black,api,native,multiple,hispanic"
    garcia, nguyen = csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    assert garcia["email"] == "ann@example.org"
    assert float(garcia["hispanic"]) == pytest.approx(0.998429, abs=1e-6)
    assert float(nguyen["api"]) == pytest.approx(0.994287, abs=1e-6)


def test_two_groups_and_other_columns(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "shares.csv"
    command = ["bisg", str(people), "--out", str(out), "--coarse", "--surname", "surname"]
    assert CliRunner().invoke(app, command).exit_code == 0
    garcia, _ = csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    assert float(garcia["HSM"]) + float(garcia["non-HSM"]) == pytest.approx(1)
    wrong = CliRunner().invoke(app, ["bisg", str(people), "--out", str(out), "--area", "zcta"])
    assert wrong.exit_code != 0
    assert "'zcta'" in str(wrong.output) + str(wrong.exception)


@pytest.mark.parametrize(("label", "written"), [("hispanic", True), ("black", False)])
def test_probabilities_that_are_worse_than_base_rates_are_refused(
    label: str, written: bool, tmp_path: Path
) -> None:
    file, out = tmp_path / "people.csv", tmp_path / "shares.csv"
    rows = [f"p{n}@example.org,García,78207,{label if n else ''}" for n in range(40)]
    rows += [f"q{n}@example.org,Nguyen,95122,api" for n in range(10)]
    file.write_text("\n".join(["email,surname,zip,race", *rows]) + "\n")
    command = ["bisg", str(file), "--out", str(out), "--known", "race", "--json"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code == 0) == written == out.exists()
    if written:
        assert "cross-entropy" in json.loads(done.stdout)["check"]
    else:
        assert "worse than base rates" in str(done.output) + str(done.exception)
