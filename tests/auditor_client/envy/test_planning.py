import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from auditor_client.cli.app import app
from auditor_client.envy import envy_plan
from auditor_client.errors import InputError
from tests.refusals import refuses


def test_a_plan_says_how_many_people_the_power_needs() -> None:
    plan = envy_plan(tolerance=0.2, alpha=0.4, epsilon=2.0, own=0.8, others=[0.1, 0.3])
    assert (plan.targets, plan.without_noise, plan.arms) == (130, 41, 86)
    assert (plan.arms_per_person, plan.noise_scale) == (2, 2.0)
    assert 130 * 87 / 2 < plan.people < 8_000
    assert plan.chance >= 0.9
    assert plan.ceiling >= 2 * plan.steps > 0
    assert plan.loss == pytest.approx(0.4 * plan.ceiling * 130)
    assert plan.means[:1] + plan.means[43:45] == (0.8, 0.1, 0.3)
    assert plan.asks() == {
        "steps": plan.ceiling, "tolerance": 0.2, "alpha": 0.4, "delta": 0.05, "bounds": "tight",
        "gamma": 0.1, "lam": 0.1, "targets": 130, "arms": 86, "arms_per_person": 2, "epsilon": 2.0,
    }  # fmt: skip
    assert "130 of them are targets, 89 more than without noise" in plan.explain()


def test_a_plan_states_the_power_for_a_number_of_people() -> None:
    asked: dict[str, Any] = {
        "epsilon": 5.0,
        "gamma": 0.2,
        "lam": 0.2,
        "tolerance": 0.3,
        "alpha": 0.5,
        "own": 0.9,
    }
    many, few = (envy_plan(**asked, others=0.1, people=people) for people in (2_000, 400))
    assert (many.people, few.people) == (2_000, 400)
    assert many.arms_per_person == 1 < few.arms_per_person
    assert few.chance < 0.9 <= many.chance
    drawn = envy_plan(**asked, others=0.1, people=2_000, sampled=True)
    assert drawn.noise_scale / drawn.arms_per_person == 2 * many.noise_scale / many.arms_per_person
    with refuses(InputError, "few-people"):
        envy_plan(**asked, people=30)
    with refuses(InputError, "no-means"):
        envy_plan(**asked, others=[])


def test_the_command_plans_and_draws(tmp_path: Path) -> None:
    chart = tmp_path / "alphas.svg"
    asked = ["envy-plan", "--epsilon", "5", "--tolerance", "0.4", "--own", "0.9", "--others", "0.1"]
    asked += ["--gamma", "0.3", "--lam", "0.3", "--people", "900", "--arms-per-person", "2"]
    done = CliRunner().invoke(app, [*asked, "--json", "--chart", str(chart)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["people"], found["arms_per_person"], found["noise_scale"]) == (900, 2, 0.8)
    assert found["chance_of_the_certificate"] > 0.9
    assert found["steps_to_expect"] <= found["steps_to_allow"]
    assert chart.read_text().startswith("<svg")
    refused = CliRunner().invoke(app, ["envy-plan", "--epsilon", "-1"])
    assert refused.exit_code == 1
    assert "epsilon" in refused.output
