"""`auditor reo-plan`: rows, theorems, random traffic, and clear problems."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from auditor_client import reo
from auditor_client.cli.app import app

Q, P = {"a": 0.1, "b": 0.25}, {"a": 0.01, "b": 0.05}
ASKED = ["reo-plan", "--default", "a=0.1,b=0.25", "--random", "a=0.01,b=0.05"]


def planned(*more: str) -> dict[str, Any]:
    answered = CliRunner().invoke(app, [*ASKED, "--json", *more])
    assert answered.exit_code == 0, answered.output
    found: dict[str, Any] = json.loads(answered.stdout)
    return found


def test_rows_by_theorem_and_exactly() -> None:
    row = planned()
    assert row["rows_each"] == row["rows_each_without_noise"]
    assert row["rows_each"] == reo.rows_needed(Q, P, 0.02).recommended
    assert row["theorem_e1"]["default"] == reo.share_rows(0.1, 0.02)
    assert row["theorem_e1"]["random"] == reo.share_rows(0.01, 0.02)
    assert row["theorem_e2"]["random"] == reo.utility_rows(Q, P, 0.02, method="theorem-e2").random
    assert row["theorem_e3"]["random"] > row["theorem_e4"]["random"] > row["rows_each"]
    assert "random_traffic" not in row
    assert planned("--epsilon", "0.05")["rows_each"] > row["rows_each"]


def test_random_traffic_its_cost_and_what_noise_adds() -> None:
    row = planned(
        *("--requests", "1e8", "--shown", "8", "--logged", "2100000"),
        *("--epsilon", "0.05", "--activation", "0.0001,0.001"),
    )
    bare = reo.random_traffic(Q, P, 0.02, n_recommended=2_100_000, requests=1e8, shown=8)
    assert row["random_traffic_without_noise"] == vars(bare)
    assert row["random_traffic"]["lost"] > bare.lost
    first, second = row["tradeoff"]
    assert first["error"] > second["error"]
    assert first["lost"] < second["lost"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--default", "a=x,b=1"], "a=0.1,b=0.25"),
        (["--random", "a=0.1"], "two groups"),
        (["--random", "a=0.1,c=0.1"], "same groups"),
        (["--error", "0"], "greater than 0"),
        (["--delta", "2"], "delta"),
        (["--epsilon", "0"], "epsilon"),
        (["--logged", "9"], "--requests"),
        (["--requests", "1e8", "--activation", "2"], "probability"),
        (["--requests", "1e8", "--activation", "x"], "list of numbers"),
        (["--requests", "-1"], "positive"),
        (["--requests", "1e8", "--logged", "1000"], "log more"),
        (["--requests", "1000", "--logged", "2100000"], "more than all requests"),
    ],
)
def test_problems_are_clear(more: list[str], words: str) -> None:
    answered = CliRunner().invoke(app, [*ASKED, *more])
    assert answered.exit_code == 1, answered.output
    assert isinstance(answered.exception, SystemExit)
    assert words in " ".join(answered.output.split())
