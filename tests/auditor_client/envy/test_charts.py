import polars as pl
import pyarrow as pa
import pytest

from auditor_client.charts.chart import svg
from auditor_client.envy import EnvyTerms
from auditor_client.envy.charts import alpha_chart, forecast_over_alphas, tube_chart
from auditor_client.errors import InputError
from tests.refusals import refuses

ROWS = [
    {"arm": arm, "step": step, "mean": 0.5, "low": 0.5 - 1 / step, "high": 0.5 + 1 / step}
    for arm in range(3)
    for step in (10, 100, 1000)
]


@pytest.mark.parametrize("table", [ROWS, pa.Table.from_pylist(ROWS), pl.DataFrame(ROWS)])
def test_tubes_have_a_panel_for_each_arm_with_ones_own_in_it(table: object) -> None:
    drawn = svg(tube_chart(table))
    assert "arm 1" in drawn
    assert "arm 2" in drawn
    spec = tube_chart(table).to_dict()
    assert "2 arms, each compared with one's own" in spec["description"]


def test_steps_and_cost_against_alpha() -> None:
    rows = forecast_over_alphas([0.9, 0.1], EnvyTerms(0.05, 0.3, 0.2), (0.1, 0.4))
    assert [(row["bounds"], row["alpha"]) for row in rows] == [
        ("printed", 0.1), ("printed", 0.4), ("tight", 0.1), ("tight", 0.4),
    ]  # fmt: skip
    assert rows[0]["steps"] > rows[2]["steps"]
    assert "printed and tight" in alpha_chart(rows).to_dict()["description"]
    assert "tight" in svg(alpha_chart(rows))


def test_a_table_that_does_not_fit_is_refused() -> None:
    with refuses(InputError, "no-rows-or-columns", "arm, step"):
        tube_chart([{"arm": 0}])
    with refuses(InputError, "few-arms"):
        tube_chart([row for row in ROWS if row["arm"] == 0])
    with refuses(InputError, "too-many-lines", 4):
        alpha_chart([{"alpha": 0.1, "bounds": str(n), "steps": 1, "cost": 1} for n in range(5)])
