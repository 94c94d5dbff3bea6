import math

import numpy as np
import pytest

from auditor_client import two_party
from auditor_client.demographics import Probabilities, hard
from privacy.metric_values import SampledPairs, ScoreBins, every_score
from tests.auditor_client.two_party.plain import soft, sums_of, weights_of
from validation import plaintext_bootstrap

BINS = ScoreBins(tuple(np.arange(1, 10) / 10))


def direct(score: np.ndarray, actual: np.ndarray, weight: np.ndarray) -> float:
    """Over all pairs, ties one half."""
    p, n = np.flatnonzero(actual), np.flatnonzero(~actual)
    wins = (score[p][:, None] > score[n]) + 0.5 * (score[p][:, None] == score[n])
    both = np.multiply.outer(weight[p], weight[n])
    return float((wins * both).sum() / both.sum())


def drawn(seed: int, people: int) -> tuple[Probabilities, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    probabilities, group = soft(rng, people, 2)
    actual = rng.random(people) < 0.4
    score = np.clip(rng.normal(0.45 + 0.15 * actual * (1 + group), 0.2), 0, 0.999)
    return probabilities, score, actual


def test_binned_sums_give_the_statistic_over_all_pairs_exactly() -> None:
    probabilities, score, actual = drawn(1, 400)
    weights = weights_of(probabilities)
    sums = sums_of(probabilities, BINS.layout, BINS.rows(score, actual))
    found = two_party.aucs(sums)
    rounded = np.searchsorted(BINS.edges, score, side="right")
    for number in range(2):
        expected = direct(rounded, actual, weights[:, number].astype(float))
        assert found[number].value == pytest.approx(expected, abs=1e-12)
    assert found[2].group == "overall"
    assert found[2].value == pytest.approx(
        direct(rounded, actual, weights.sum(axis=1).astype(float)), abs=1e-12
    )


def test_the_curve_begins_at_the_threshold_infinity() -> None:
    false, true = two_party.roc(np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0, 1.0]))
    assert false.tolist() == [0, 0.25, 0.5, 1]
    assert true.tolist() == [0, 0.75, 1, 1]
    # Without the first trapeze, .25 × .375 of the area would be lost.
    assert two_party.area(np.array([0.0, 1.0, 3.0]), np.array([2.0, 1.0, 1.0])) == pytest.approx(
        0.25 * 0.375 + 0.25 * 0.875 + 0.5
    )


def test_every_score_a_threshold_is_the_exact_curve() -> None:
    _, score, actual = drawn(2, 300)
    order = np.argsort(score)
    positives, negatives = actual[order].astype(float), (~actual[order]).astype(float)
    assert two_party.area(positives, negatives) == pytest.approx(
        direct(score, actual, np.ones(300))
    )


@pytest.mark.parametrize("rate", [math.inf, 3e-4])
def test_limits_hold(rate: float) -> None:
    probabilities, score, actual = drawn(3, 60_000)
    truth = two_party.aucs(sums_of(probabilities, BINS.layout, BINS.rows(score, actual)))
    rng, misses = np.random.default_rng(4), np.zeros(3, int)
    for _ in range(300):
        chosen = rng.integers(0, 60_000, 500)
        rows = BINS.rows(score[chosen], actual[chosen])
        sums = sums_of(probabilities[chosen], BINS.layout, rows, rate, rng)
        found = two_party.aucs(sums)
        misses += [not a.low <= t.value <= a.high for a, t in zip(found, truth, strict=True)]
    # 5 % of 300 is 15; 37 or more have a chance below 1e-6.
    assert misses.max() < 37


def test_a_perfect_score_has_limits_that_end_below_one() -> None:
    actual = np.tile([True, False], 200)
    sums = sums_of(hard(["a"] * 400), BINS.layout, BINS.rows(np.where(actual, 0.9, 0.1), actual))
    found = two_party.aucs(sums)[0]
    assert found.value == found.high == 1
    # Wilson's for 100 of 100, as 1/200 + 1/200 = 1/100
    assert found.low == pytest.approx(100 / (100 + 1.959964**2), abs=1e-5)


def test_sampled_pairs_estimate_the_same() -> None:
    probabilities, score, actual = drawn(5, 4000)
    weights = weights_of(probabilities)
    rows = SampledPairs(buckets=500, rounds=40).rows(
        np.arange(4000), np.arange(4000), score, actual
    )
    sums = plaintext_bootstrap.sums_of(rows, weights, [(0, 0), (1, 1)], 1, repetitions=50, seed=1)
    found = plaintext_bootstrap.read(sums)
    for number in range(2):
        exact = direct(score, actual, weights[:, number].astype(float))
        # Pairs of one person depend on each other: their bootstrap is of pairs, so allow for it.
        assert abs(found.value[number, 0] - exact) < 0.02


def test_the_exact_curve_by_cumulative_sums_with_a_bootstrap() -> None:
    probabilities, score, actual = drawn(7, 400)
    score = np.round(score, 2)
    weights = weights_of(probabilities)
    rows = every_score(np.arange(400), score, actual)
    cells = int(rows.cell.max()) + 1
    sums = plaintext_bootstrap.sums_of(rows, weights, [(0,), (1,)], cells, repetitions=100, seed=2)
    found = plaintext_bootstrap.read_areas(sums)
    for number in range(2):
        exact = direct(score, actual, weights[:, number].astype(float))
        assert found.value[number] == pytest.approx(exact)
        assert found.low[number] < exact < found.high[number]


def test_noise_that_hides_everybody_leaves_the_whole_range() -> None:
    probabilities, score, actual = drawn(6, 30)
    sums = sums_of(
        probabilities, BINS.layout, BINS.rows(score, actual), 1e-5, np.random.default_rng(1)
    )
    found = two_party.aucs(sums)[0]
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)
