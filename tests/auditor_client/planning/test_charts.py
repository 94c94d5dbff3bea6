"""Charts of planning: what they show, in words and in symbols."""

from auditor_client.planning.charts import power_curve


def test_a_power_curve_can_be_read_without_colour() -> None:
    chart = power_curve([60, 100], 0.3, bins=4).to_dict()
    first = chart["layer"][0]["encoding"]
    assert {"shape", "strokeDash", "color"} <= first.keys()
    assert "from 60 to 100 people" in chart["description"]
