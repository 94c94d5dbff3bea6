"""Measures of a finished audit: definitions, pairs, words."""

import math
from typing import Any

import pytest

from auditor_client import InputError, ScoreCdfResult, ScoreHistogramResult
from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.parity import passes_four_fifths
from openapi.resources import Levels
from tests.auditor_client.examples import NAMES, cdf_release, finished, key_set, platform_key, price
from tests.refusals import refuses

COUNTS = {"g0": [100, 100, 100, 100, 0], "g1": [200, 100, 60, 40, 0]}
SIZES = {"g0": 400, "g1": 400}


def audit(names: dict[str, str] | None = None, **options: Any) -> ScoreHistogramResult:
    given: dict[str, Any] = {"kind": "known", "sizes": SIZES, "paid": price(0.25, None)} | options
    return finished(COUNTS, names, **given)


def cdf() -> ScoreCdfResult:
    key = platform_key()
    men, women = [500.0, 1000.0, 1500.0, 2000.0, 2000.0], [1000.0, 1500.0, 1800.0, 2000.0, 2000.0]
    running = {"g0": men, "g1": women}
    return ScoreCdfResult(cdf_release(key, running), key_set(key), NAMES)


def test_each_measure_has_its_definition() -> None:
    [parity] = audit().parity(0.5)
    assert parity.groups == ("man", "woman")
    assert parity.value == pytest.approx(0.25)
    [ratio] = audit().impact_ratio(0.5)
    assert ratio.value == pytest.approx(2.0)
    assert ratio.fair == 1.0
    [mean] = audit().mean_difference()
    assert mean.value == pytest.approx(0.5 - (0.125 * 200 + 0.375 * 100 + 0.625 * 60 + 35) / 400)
    [ks] = audit().kolmogorov_smirnov()
    assert ks.value == pytest.approx(0.25)
    [w1] = audit().wasserstein()
    assert w1.value == pytest.approx((0.25 + 0.25 + 0.15) / 4)
    [median] = audit().quantile_gap(0.5)
    assert median.value == pytest.approx(0.25)
    for estimate in (parity, ratio, mean, ks, w1):
        assert estimate.fair < estimate.low < estimate.value < estimate.high


def test_running_counts_have_the_same_measures() -> None:
    found = {estimate.measure: estimate for estimate in cdf().metrics(0.5)}
    assert len(found) == 6
    assert found["demographic parity at 0.5"].value == pytest.approx(0.25)
    assert all(e.low <= e.value <= e.high for e in found.values())


def test_all_pairs_share_the_error() -> None:
    three = finished(
        {"g0": [50, 50, 0], "g1": [55, 45, 0], "g2": [60, 40, 0]},
        {"g0": "a", "g1": "b", "g2": "c"},
        kind="known",
        sizes=dict.fromkeys(("g0", "g1", "g2"), 100),
        paid=price(1.0, None),
    )
    found = three.parity(0.5, delta=0.06)
    assert [e.groups for e in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(e.delta == pytest.approx(0.02) for e in found)


def test_levels_are_selected_from_the_threshold_on() -> None:
    made = audit(bins=Levels(levels=[1, 2, 3, 4]))
    assert made.parity(3)[0].value == made.parity(2.5)[0].value == pytest.approx(0.25)
    assert made.mean_difference()[0].rounding == 0


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0, 2.0, float("nan")])
def test_a_threshold_inside_of_a_bin_is_refused(threshold: float) -> None:
    with refuses(InputError, "threshold-inside-a-bin", "0.25, 0.5, 0.75"):
        audit().parity(threshold)


def test_bad_questions_are_refused() -> None:
    with refuses(InputError, "quantile-range"):
        audit().quantile_gap(1.0)
    with pytest.raises(InputError, match="delta"):
        audit().parity(0.5, delta=0)
    with refuses(InputError, "few-groups"):
        finished({"g0": [1, 2, 0]}).mean_difference()


def test_opportunity_is_parity_among_the_qualified() -> None:
    names = {"g0": "man × yes", "g1": "woman × yes"}
    [found] = audit(names).equal_opportunity(0.5, qualified="yes")
    [plain] = audit(names).parity(0.5)
    assert (found.value, found.low, found.high) == (plain.value, plain.low, plain.high)
    assert found.measure == "equality of opportunity at 0.5"
    with refuses(InputError, "no-pair", "'no'"):
        audit(names).equal_opportunity(0.5, qualified="no")


def test_nobody_left_says_nothing() -> None:
    empty = finished({"g0": [0, 0, 0], "g1": [0, 0, 0]}, kind="bins", paid=price(1.0, None))
    [parity] = empty.parity(0.5)
    assert (parity.low, parity.high) == (-1.0, 1.0)
    [ratio] = empty.impact_ratio(0.5)
    assert (ratio.low, ratio.high) == (0.0, math.inf)
    [ks] = empty.kolmogorov_smirnov()
    assert (ks.low, ks.high) == (0.0, 1.0)
    [w1] = empty.wasserstein()
    assert (w1.low, w1.high) == (0.0, 0.5)


def test_estimates_judge_with_what_rounding_may_do() -> None:
    estimate = Estimate("mean", ("a", "b"), 0.1, 0.05, 0.15, 0.05, rounding=0.02)
    assert estimate.verdict(0.2) == "fair"
    assert estimate.verdict(0.16) == "inconclusive"
    assert estimate.verdict(0.02) == "unfair"
    assert "up to 0.02 either way" in estimate.explain()
    with pytest.raises(ValueError, match="alpha"):
        estimate.verdict(-1)


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(0.85, 1.2, "passes"), (0.5, 0.7, "fails"), (1.3, 1.5, "fails"), (0.7, 0.9, "inconclusive")],
)
def test_four_fifths_looks_both_ways(low: float, high: float, says: str) -> None:
    assert passes_four_fifths(Estimate("r", ("a", "b"), 1, low, high, 0.05, fair=1)) == says
