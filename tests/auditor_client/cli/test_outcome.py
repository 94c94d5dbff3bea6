"""`auditor outcome` on a researcher's own files."""

import json
from pathlib import Path

import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app
from tests.auditor_client.outcome.logs import log
from tests.auditor_client.outcome.test_bias_correction import drawn as jobs

NAMES = ["--score", "score", "--outcome", "outcome", "--group", "group"]
runner = CliRunner()


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    pq.write_table(log(6_000, seed=1, effect=0.15), tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


def test_json_has_everything(parquet: Path) -> None:
    done = runner.invoke(app, ["outcome", "--file", str(parquet), *NAMES, "--bins", "4", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["verdict"] == "unfair"
    assert len(found["effects"]) == 4
    assert found["effects"][0]["relative_to"] == "a"
    assert found["wald"]["p_value"] < 0.01
    assert len(found["averages"]) == 8


def test_words_and_a_table_for_people(parquet: Path) -> None:
    options = ["--bins", "0,0.5,1", "--person", "person", "--tolerance", "0.02"]
    done = runner.invoke(app, ["outcome", "--file", str(parquet), *NAMES, *options])
    assert done.exit_code == 0, done.output
    assert "Scores under-predict b relative to a" in done.stdout
    assert "0.000 - 0.500" in done.stdout


def test_csv_and_a_threshold(tmp_path: Path) -> None:
    csv.write_csv(log(3_000, seed=2), tmp_path / "log.csv")
    options = ["--bins", "0.4,0.5,1", "--threshold", "0.4", "--tolerance", "0.3", "--json"]
    done = runner.invoke(app, ["outcome", "--file", str(tmp_path / "log.csv"), *NAMES, *options])
    found = json.loads(done.stdout)
    assert found["verdict"] == "fair"
    assert "just above the threshold" in found["words"][0]
    assert found["effects"][1]["adjusted"] is None  # not tested, and no NaN in JSON


def test_the_size_of_a_bias_with_limits(tmp_path: Path) -> None:
    path = tmp_path / "jobs.parquet"
    pq.write_table(jobs(0.1, seed=1, jobs=30), path)
    asked = ["outcome", "--file", str(path), *NAMES, "--bins", "1", "--query", "query"]
    done = runner.invoke(app, [*asked, "--threshold", "0.5", "--json"])
    assert done.exit_code == 0, done.output
    size = {row["of"]: row for row in json.loads(done.stdout)["size"]}
    assert list(size) == ["N%Δ of a", "N%Δ of b", "Y%Δ"]
    assert all(row["low"] < row["change"] < row["high"] for row in size.values())
    assert size["N%Δ of b"]["change"] > 0 > size["N%Δ of a"]["change"]
    ranked = runner.invoke(app, asked)
    assert ranked.exit_code == 0, ranked.output
    assert "rank of b" in ranked.stdout
    lost = runner.invoke(app, [*asked, "--threshold", "0.3"])
    assert lost.exit_code == 1
    assert "have no outcome" in " ".join(lost.stderr.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--query", "job"], "no column 'job'"),
        (["--score", "points"], "no column 'points'"),
        (["--outcome-range", "0,0.5"], "outside of 0 to 0.5"),
        (["--outcome-range", "1"], "not a range"),
        (["--bins", "a,b"], "not a list of numbers"),
        (["--reference", "z"], "no group 'z'"),
        (["--file", "nowhere.csv"], "no file nowhere.csv"),
    ],
)
def test_problems_are_printed_in_one_line(parquet: Path, options: list[str], words: str) -> None:
    done = runner.invoke(app, ["outcome", "--file", str(parquet), *NAMES, *options])
    assert done.exit_code == 1
    assert words in " ".join(done.stderr.split())
