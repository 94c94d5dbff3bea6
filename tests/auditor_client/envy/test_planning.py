import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app
from auditor_client.envy import envy_plan
from auditor_client.errors import InputError


def test_a_plan_asks_for_what_the_noise_needs() -> None:
    plan = envy_plan(tolerance=0.2, alpha=0.4, noise=1.0, own=0.8, others=[0.1, 0.3])
    assert (plan.targets, plan.without_noise, plan.arms, plan.people) == (73, 41, 80, 81)
    assert plan.ceiling >= 2 * plan.steps > 0
    assert plan.loss == pytest.approx(0.4 * plan.ceiling * 73)
    assert plan.means[:1] + plan.means[40:42] == (0.8, 0.1, 0.3)
    assert plan.asks() == {
        "steps": plan.ceiling, "tolerance": 0.2, "alpha": 0.4, "delta": 0.05, "bounds": "tight",
        "gamma": 0.1, "lam": 0.1, "targets": 73, "arms": 80,
    }  # fmt: skip
    assert "73 people, 32 more than without noise" in plan.explain()


def test_a_plan_for_everybody() -> None:
    plan = envy_plan(tolerance=0.3, alpha=0.5, noise=5.0, own=0.9, others=0.1, everybody=10)
    assert (plan.targets, plan.arms, plan.chance > 0.9) == (10, 9, True)
    assert plan.asks()["criterion"] == "exact"
    with pytest.raises(InputError, match="at least two people"):
        envy_plan(everybody=1)
    with pytest.raises(InputError, match="at least one mean"):
        envy_plan(others=[])


def test_the_command_plans_and_draws(tmp_path: Path) -> None:
    chart = tmp_path / "alphas.svg"
    asked = ["envy-plan", "--epsilon", "5", "--tolerance", "0.4", "--own", "0.9", "--others", "0.1"]
    asked += ["--everybody", "6", "--json", "--chart", str(chart)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["targets"], found["arms"]) == (6, 5)
    assert found["steps_to_expect"] <= found["steps_to_allow"]
    assert chart.read_text().startswith("<svg")
    refused = CliRunner().invoke(app, ["envy-plan", "--epsilon", "-1"])
    assert refused.exit_code == 1
    assert "epsilon must be greater than 0" in refused.output
