import math

import numpy as np
import pytest

from auditor_client import InputError, two_party
from auditor_client.demographics import hard
from auditor_client.two_party import SoftGroupSums
from privacy.metric_values import (
    Bins,
    FalsePositives,
    Kernels,
    Layout,
    Ndcg,
    Outcomes,
    RankGaps,
    ScoreBins,
)
from tests.auditor_client.two_party.plain import soft, sums_of, weights_of
from tests.refusals import refuses

POINTS = Kernels(tuple(np.arange(1, 10) / 10), 0.08)


def test_kernel_averages_are_nadaraya_and_watsons() -> None:
    rng = np.random.default_rng(1)
    probabilities, group = soft(rng, 500, 2)
    score = rng.random(500)
    outcome = (rng.random(500) < score * (0.5 + 0.4 * group)).astype(float)
    sums = sums_of(probabilities, POINTS.layout, POINTS.rows(score, outcome))
    found = two_party.kernel_averages(sums, 4).averages(0.05)
    kernel = np.exp(-(((score - 0.5) / 0.08) ** 2) / 2)
    for number in range(2):
        weight = weights_of(probabilities)[:, number] * kernel
        assert found[number].value == pytest.approx(np.average(outcome, weights=weight), abs=2e-3)


def test_the_total_impact_adds_discounted_differences_up() -> None:
    rng = np.random.default_rng(2)
    labels = hard(rng.choice(["a", "b"], 4000).tolist())
    score = rng.random(4000)
    bonus = 0.1 * (labels["a"] > 0)
    sums = sums_of(labels, POINTS.layout, POINTS.rows(score, score * 0.8 + bonus))
    found = two_party.total_impact(sums, "a", "b")
    assert found.value == pytest.approx(0.1, abs=0.01)
    assert found.low < 0.1 < found.high
    only = two_party.total_impact(sums, "a", "b", [0.0] * 8 + [1.0])
    one = two_party.kernel_averages(sums, 8).difference(0, 1, 0.05)
    assert (only.value, only.low, only.high) == pytest.approx((one.value, one.low, one.high))
    turned = two_party.total_impact(sums, "b", "a")
    assert turned.value == pytest.approx(-found.value)
    with refuses(InputError, "weight-per-point", 9):
        two_party.total_impact(sums, "a", "b", [1.0])


def test_discounts_favour_high_scores() -> None:
    weights = two_party.discounts(4)
    assert sum(weights) == pytest.approx(1)
    assert list(weights) == sorted(weights)


def test_the_gap_of_hard_groups_is_that_of_paper_1() -> None:
    metric = Bins((0.0, 0.5, 1.0))
    labels = hard(["a"] * 10 + ["b"] * 20)
    score = [0.1] * 7 + [0.9] * 3 + [0.1] * 8 + [0.9] * 12
    found = two_party.largest_gap(sums_of(labels, metric.layout, metric.rows(score)))
    assert found.value == pytest.approx(0.3)
    assert {found.first, found.second} == {"a", "b"}
    assert found.low == 0
    assert found.high < 1


def test_limits_of_the_gap_hold() -> None:
    metric, rng = Bins((0.0, 0.25, 0.5, 0.75, 1.0)), np.random.default_rng(3)
    shares = np.array([[0.4, 0.3, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]])
    # Dirichlet(.3, .3) keeps 1/1.6 of a difference.
    truth, misses = 0.15 / 1.6, 0
    for _ in range(150):
        probabilities, group = soft(rng, 600, 2)
        place = (rng.random(600)[:, None] > shares[group].cumsum(axis=1)).sum(axis=1)
        rows = metric.rows(place / 4 + 0.1)
        found = two_party.largest_gap(sums_of(probabilities, metric.layout, rows, 1e-3, rng))
        misses += not found.low <= truth <= found.high
    # 5 % of 150 is 7.5; 25 or more have a chance below 1e-6.
    assert misses < 25


@pytest.mark.parametrize("cells", [0, -5])
def test_an_audience_in_which_nobody_matched_says_nothing_and_never_fails(cells: int) -> None:
    def nobody(layout: Layout) -> SoftGroupSums:
        table = np.full((2, len(layout.cells)), cells, object)
        return SoftGroupSums.of(("a", "b"), layout, table, 1000, 0.01)

    for reading, layout in (
        (two_party.false_flags, FalsePositives().layout),
        (two_party.false_positive_rates, FalsePositives().layout),
        (two_party.outcomes, Outcomes(0.0, 1.0, squares=True).layout),
        (two_party.ndcg, Ndcg().layout),
        (lambda sums: two_party.rank_gaps(sums, 0), RankGaps().layout),
        (lambda sums: two_party.bin_shares(sums, 0), Bins((0.0, 1.0)).layout),
    ):
        rates = reading(nobody(layout))
        assert all(math.isnan(each.value) for each in rates.averages(0.05))
        assert all((each.low, each.high) == (rates.low, 1) for each in rates.averages(0.05))
        assert two_party.spread_beyond(rates, 0.1).verdict == "inconclusive"
        assert two_party.service_below(rates, 0.1).verdict == "inconclusive"
    gap = two_party.largest_gap(nobody(Bins((0.0, 0.5, 1.0)).layout))
    assert math.isnan(gap.value)
    assert (gap.low, gap.high) == (0, 1)
    impact = two_party.total_impact(nobody(POINTS.layout), "a", "b")
    assert impact.low <= -1 + 1e-9
    assert impact.high >= 1 - 1e-9
    assert two_party.auc_below(nobody(ScoreBins((0.5,)).layout), 0.1).verdict == "inconclusive"


def test_a_gap_needs_two_groups() -> None:
    metric = Bins((0.0, 1.0))
    with refuses(InputError, "few-groups"):
        two_party.largest_gap(sums_of(hard(["a"]), metric.layout, metric.rows([0.5])))
