"""Days against the line, stages, and measures that need no random traffic."""

import numpy as np
import pytest

from auditor_client import reo
from auditor_client.charts.chart import svg
from auditor_client.errors import InputError
from auditor_client.reo.charts import difference_chart
from auditor_client.stats.noise_distributions import Laplace
from tests.refusals import refuses

RANDOM = {"a": 9_000, "b": 10_000}
DAYS = {
    "Mon": {"a": 9_100, "b": 10_000},
    "Tue": {"a": 9_000, "b": 14_000},
    "Wed": {"a": 8_900, "b": 12_300},
}


def test_days_are_below_above_or_unclear() -> None:
    found = reo.monitor(DAYS, RANDOM)
    assert [found.state(day) for day in DAYS] == ["below", "above", "unclear"]
    assert found.table().column_names == ["day", "penalty", "low", "high", "state"]
    # Days share delta: each is as wide as one with a third of it.
    assert found.days["Mon"].high == reo.penalty(DAYS["Mon"], RANDOM, delta=0.05 / 3).high
    with refuses(InputError, "no-days"):
        reo.monitor({}, RANDOM)


def test_the_chart_can_be_read_without_colour_and_without_eyes() -> None:
    chart = reo.monitor(DAYS, RANDOM).chart()
    drawn, made = svg(chart), chart.to_dict()
    assert "11.1%" in drawn
    assert "certainly above" in drawn
    assert "Certainly above it: Tue." in made["description"]
    points = [layer for layer in made["layer"] if "shape" in layer.get("encoding", {})]
    assert points


def test_more_groups_have_two_lines() -> None:
    days = {day: {**counts, "c": 5_000} for day, counts in DAYS.items()}
    found = reo.monitor(days, {**RANDOM, "c": 5_000})
    drawn = svg(found.chart())
    assert "10.9%" in drawn
    assert "9.1%" in drawn


def test_a_chart_of_differences() -> None:
    found = {
        "boost": {day: reo.difference(DAYS["Tue"], DAYS[day], RANDOM) for day in ("Mon", "Wed")}
    }
    drawn = svg(difference_chart(found))
    assert "boost" in drawn
    assert "difference of the penalty" in drawn


def test_stages_are_measured_by_swapping_traffics() -> None:
    shown, recalled, random = {"a": 900, "b": 1_500}, {"a": 600, "b": 610}, {"a": 400, "b": 400}
    found = reo.stages(shown, recalled, random, noise_recalled=Laplace(1.0))
    whole, recall, ranking = found.whole.u, found.recall.u, found.ranking.u
    for name in shown:
        assert whole[name] == pytest.approx(recall[name] * ranking[name])
    assert found.recall.verdict(1 / 9) == "fair"
    assert found.ranking.low > 0


def test_parity_and_its_plain_differences() -> None:
    found = reo.parity({"a": 1_000, "b": 1_500}, {"a": 10_000, "b": 10_000})
    assert found.u == pytest.approx({"a": 0.1, "b": 0.15})
    assert found.penalty == pytest.approx(0.2)
    # U_k - mean(U)   [paper 4, eq. 25]
    assert reo.plain(found) == pytest.approx({"a": -0.025, "b": 0.025})
    sampled = reo.parity({"a": 1_000, "b": 1_500}, {"a": 10_000, "b": 10_000}, sampled=True)
    assert sampled.high - sampled.low > found.high - found.low
    with refuses(InputError, "nothing-available"):
        reo.parity({"a": 1_000, "b": 1_500}, {"a": 10_000, "b": 0})
    assert not reo.parity({"a": 2, "b": 1_500}, {"a": 10_000, "b": 10_000}).defined


def test_precision_by_group_of_viewers() -> None:
    rng = np.random.default_rng(1)
    rows, truth = np.array([4_000, 6_000]), np.array([0.3, 0.25])
    held = 0
    for _ in range(300):
        hits = dict(zip("ab", rng.binomial(rows, truth), strict=True))
        found = reo.precision(hits, dict(zip("ab", rows, strict=True)))
        held += found.low <= truth.std() / truth.mean() <= found.high
    # 300 runs at 95 %: less than 88.3 % once in a million.
    assert held >= 265


def test_few_rows_of_viewers_are_bounded_not_refused() -> None:
    found = reo.precision({"a": -3.0, "b": 400.0}, {"a": 2.0, "b": 900.0}, noise=Laplace(0.2))
    assert not found.defined
    assert found.low == 0
    assert "a in positive traffic" in found.explain()
    held = 0
    rng = np.random.default_rng(5)
    for _ in range(60):
        hits, rows = rng.poisson((6, 30)), rng.poisson((30, 60))
        above, shown = (dict(zip("ab", each.tolist(), strict=True)) for each in (hits, rows + hits))
        one = reo.precision(above, shown)
        truth = np.array([6 / 36, 30 / 90])
        held += one.low <= truth.std() / truth.mean() <= one.high
    # At 95 %: 45 or fewer of 60 are held once in a million.
    assert held > 45
    few = reo.parity({"a": 3, "b": 900}, {"a": 1_000, "b": 1_000})
    assert not few.defined
    assert few.low > 0.5
