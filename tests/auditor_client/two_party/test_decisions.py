import numpy as np
import pytest

from auditor_client import InputError, two_party
from auditor_client.demographics import Probabilities, hard
from auditor_client.two_party import Ratios
from privacy.metric_values import FalsePositives, RankGaps, ScoreBins
from tests.auditor_client.two_party.plain import soft, sums_of
from tests.refusals import refuses


def rates(*shares: float, people: float = 10_000.0) -> Ratios:
    below = np.full(len(shares), people)
    names = tuple(f"g{number}" for number in range(len(shares)))
    return Ratios(names, np.array(shares) * people, below, two_valued=True)


def test_ero_compares_the_largest_with_the_least() -> None:
    found = two_party.spread_beyond(rates(0.10, 0.13, 0.11), 0.02)
    assert (found.worst.first, found.worst.second) == ("g1", "g0")
    assert found.exceeded
    assert found.verdict == "inconclusive"
    assert "g1 is 0.0300 above g0" in found.explain()


def test_ero_is_sure_where_numbers_are_large() -> None:
    assert two_party.spread_beyond(rates(0.10, 0.13, people=1e6), 0.02).verdict == "unfair"
    assert two_party.spread_beyond(rates(0.10, 0.13, people=1e6), 0.04).verdict == "fair"


def test_service_is_compared_with_everybody() -> None:
    found = two_party.service_below(rates(0.80, 0.80, 0.65, people=1e5), 0.05)
    assert (found.worst.first, found.worst.second) == ("overall", "g2")
    assert found.worst.value == pytest.approx(0.75 - 0.65)
    assert found.verdict == "unfair"
    above = two_party.service_below(rates(0.70, 0.70, 0.85, people=1e5), 0.06)
    assert above.verdict == "fair"


def test_auc_is_compared_with_everybody_s() -> None:
    metric = ScoreBins((0.5,))
    labels = hard(["a"] * 4000 + ["b"] * 4000)
    actual = np.tile([True, False], 4000)
    told_apart = np.where(np.arange(8000) < 4000, actual, np.arange(8000) % 4 < 2)
    sums = sums_of(labels, metric.layout, metric.rows(told_apart, actual))
    found = two_party.auc_below(sums, 0.1)
    assert (found.rule, found.worst.second, found.verdict) == ("MQOS-AUC", "b", "unfair")
    assert found.worst.value == pytest.approx(0.25)
    assert two_party.auc_below(sums, 0.3).verdict == "fair"


def test_one_sided_gaps_have_limits_at_any_rank_and_no_verdict() -> None:
    metric = RankGaps(ranks=3)
    # 10,000 pairs of each group at each rank; at the second one group is misplaced by .1.
    values = np.array([[200.0, -100.0, 1000.0, 1000.0], [200.0, 100.0, 1000.0, 1000.0]]) * 10_000
    sums = two_party.SoftGroupSums.of(
        ("a", "b"), metric.layout, values.astype(np.int64) * 1000, 1000
    )
    found = two_party.misranked(sums)
    assert (found.rule, found.verdict, found.exceeded) == ("LOT", "inconclusive", True)
    assert 0.05 < found.at_least < 0.1
    assert found.one_sided
    assert found.worst.value == pytest.approx(0.1)
    assert "a or their neighbour at rank 3 is 0.1000 above rank 2" in found.explain()
    assert two_party.misranked(sums, tolerance=0.2).verdict == "inconclusive"


def test_pairs_that_cancel_on_both_sides_are_not_called_fair() -> None:
    # LOT of the pairs (a, a), (a, b), (b, a), (b, b): .3, -.15, -.15, .3, of 10,000 pairs each.
    metric = RankGaps(ranks=2)
    one_side = np.array([[0.3 - 0.15, 2.0], [-0.15 + 0.3, 2.0]]) * 10_000 * metric.layout.scale
    sums = two_party.SoftGroupSums.of(
        ("a", "b"), metric.layout, one_side.astype(np.int64) * 1000, 1000
    )
    found = two_party.misranked(sums, tolerance=0.05)
    assert found.worst.value == pytest.approx(-0.075)
    assert found.verdict == "inconclusive"


@pytest.mark.parametrize("rate", [5e-4])
def test_wrong_verdicts_are_rare(rate: float) -> None:
    rng, metric = np.random.default_rng(21), FalsePositives()
    # True spreads of weighted averages lie just within τ, and just beyond it.
    wrong = {"fair": 0, "unfair": 0}
    for _ in range(150):
        probabilities, group = soft(rng, 600, 3)
        for verdict, gap in (("unfair", 0.1), ("fair", 0.2)):
            # Dirichlet(.3, .3, .3) keeps 1/1.9 of a difference of one group to the others
            flagged = rng.random(600) < np.array([0.2, 0.2, 0.2 + gap])[group]
            rows = metric.rows(flagged, np.zeros(600, bool))
            found = two_party.false_flags(sums_of(probabilities, metric.layout, rows, rate, rng))
            tau = {"unfair": 0.1 / 1.9, "fair": 0.2 / 1.9 - 1e-9}[verdict]
            wrong[verdict] += two_party.spread_beyond(found, tau).verdict == verdict
    # 5 % of 150 is 7.5; 22 or more have a chance below 1e-5 each.
    assert max(wrong.values()) < 22


def test_a_group_without_people_leaves_things_open() -> None:
    found = two_party.spread_beyond(
        Ratios(("a", "b"), np.array([5.0, 0.0]), np.array([50.0, 0.0])), 0.1
    )
    assert found.verdict == "inconclusive"


def test_few_people_are_judged_on_the_upload() -> None:
    weights = Probabilities([[0.9, 0.1], [0.8, 0.2], [0.9, 0.1]], ("a", "b"))
    assert two_party.too_few(weights, 1.0) == ("b",)
    assert two_party.too_few(weights, 0.2) == ()


def test_rules_need_two_groups_and_a_tolerance() -> None:
    with refuses(InputError, "few-groups"):
        two_party.spread_beyond(rates(0.1), 0.1)
    with refuses(InputError, "negative-tolerance"):
        two_party.spread_beyond(rates(0.1, 0.2), -0.1)
