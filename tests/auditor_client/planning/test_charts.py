"""Charts of planning: what they show, in words and in symbols."""

from typing import Any

from auditor_client.charts.chart import svg
from auditor_client.planning.charts import (
    EXACT,
    EXACT_BARE,
    LEMMA,
    RANGES,
    THEOREM,
    figure_3,
    power_curve,
)


def rows() -> list[dict[str, Any]]:
    people = {THEOREM: 1879, LEMMA: 450, EXACT: 75, EXACT_BARE: 66}
    return [
        {"parameter": name, "value": value, **people}
        for name, values in RANGES.items()
        for value in values
    ]


def test_figure_3_shows_the_papers_factor_and_ours() -> None:
    chart = figure_3(rows())
    drawn = svg(chart)
    for words in ("paper (Lemma 5.3)", "exact (no privacy)", "people per group", "bins"):
        assert words in drawn
    assert "close to 4" in chart.to_dict()["description"]


def test_a_power_curve_can_be_read_without_colour() -> None:
    chart = power_curve([60, 100], 0.3, bins=4).to_dict()
    first = chart["layer"][0]["encoding"]
    assert {"shape", "strokeDash", "color"} <= first.keys()
    assert "from 60 to 100 people" in chart["description"]
