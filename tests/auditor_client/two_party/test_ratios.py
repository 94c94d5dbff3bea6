import math

import numpy as np
import pytest

from auditor_client import InputError, two_party
from auditor_client.demographics import RandomisedResponse, hard
from auditor_client.two_party import Average, Ratios, SoftGroupSums
from auditor_client.two_party.ratios import difference
from privacy.metric_values import FalsePositives, Layout, Outcomes
from tests.auditor_client.two_party.plain import soft, sums_of
from tests.refusals import refuses

# 95 % limits may fail in 5 %; over these repetitions more failures than this have a chance
# below 1e-6 if they hold with 95 %.
REPETITIONS, MOST_MISSES = 250, 32


def test_without_noise_and_with_hard_labels_limits_are_wilsons() -> None:
    found = Ratios(("a",), np.array([7.0]), np.array([50.0]), two_valued=True).average(0, 0.05)
    z, n, p = 1.959963985, 50, 7 / 50
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))
    assert found.value == p


def test_with_noise_in_both_sums_limits_are_fiellers() -> None:
    rates = Ratios(
        ("a",), np.array([300.0]), np.array([1000.0]),
        low=-1e9, high=1e9, noise_above=400.0, noise_below=900.0, squares=np.array([0.0]),
    )  # fmt: skip
    found = rates.average(0, 0.05)
    for theta in (found.low, found.high):
        apart = abs(300 - theta * 1000)
        noise = 400 + theta**2 * 900
        sampling = max(1.645 * 20 - 2 * theta * 300 + theta**2 * (1000 + 1.645 * 30), 0)
        # Laplace noise has a larger quantile than normal noise of the same variance
        assert apart > 1.96 * math.sqrt(noise + sampling) * 0.999
        assert apart < 2.2 * math.sqrt(noise + sampling)


def test_differences_of_hard_groups_are_newcombes() -> None:
    rates = Ratios(("a", "b"), np.array([56.0, 48.0]), np.array([70.0, 80.0]), two_valued=True)
    found = rates.difference(0, 1, 0.05)
    # Newcombe, Statistics in Medicine 17 (1998), method 10 for 56/70 - 48/80: .0524 to .3339
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(("rate", "base"), [(math.inf, 0.3), (5e-4, 0.02), (5e-5, 0.3)])
def test_limits_hold_with_soft_groups_and_noise(rate: float, base: float) -> None:
    rng = np.random.default_rng([int(1e3 * base), 0 if math.isinf(rate) else int(1e6 * rate)])
    metric, truth = FalsePositives(), np.array([base, 2 * base, base])
    misses = np.zeros(4, int)
    target = _expected(truth)
    for _ in range(REPETITIONS):
        probabilities, group = soft(rng, 400, 3)
        flagged = rng.random(400) < truth[group]
        rows = metric.rows(flagged, np.zeros(400, bool))
        sums = sums_of(probabilities, metric.layout, rows, rate, rng)
        rates = two_party.false_flags(sums)
        averages = rates.averages(0.05)
        misses[:3] += [not a.low <= t <= a.high for a, t in zip(averages, target, strict=True)]
        apart = rates.difference(1, 0, 0.05)
        misses[3] += not apart.low <= target[1] - target[0] <= apart.high
    assert misses.max() <= MOST_MISSES


def _expected(truth: np.ndarray) -> np.ndarray:
    """Return the expectation of weighted averages, A μ, with the moments of Dirichlet(.3, .3,
    .3).
    """
    total, alpha = 0.9, 0.3
    square = alpha * (alpha + 1) / (total * (total + 1))
    product = alpha**2 / (total * (total + 1))
    matrix = 3 * np.where(np.eye(3, dtype=bool), square, product)
    return np.asarray(matrix @ truth)


def test_limits_hold_for_graded_outcomes_with_several_events_each() -> None:
    rng, metric = np.random.default_rng(11), Outcomes(0.0, 1.0, events=4, squares=True)
    misses = np.zeros(2, int)
    for _ in range(REPETITIONS):
        probabilities, group = soft(rng, 250, 2)
        own = rng.beta(2 + group, 3)
        outcome = np.clip(own[:, None] + rng.normal(0, 0.05, (250, 4)), 0, 1)
        values = metric.rows(outcome.ravel()).reshape(250, 4, 3).sum(axis=1)
        sums = sums_of(probabilities, metric.layout, values, 2e-6, rng, events=4)
        rates = two_party.outcomes(sums)
        apart = rates.difference(1, 0, 0.05)
        # With α = .3 twice, weighted averages keep (α + 1 - α)/(2α + 1) = .625 of a difference;
        # clipping at the ends takes nearly nothing.
        expected = 0.625 * (3 / 6 - 2 / 5)
        misses[0] += not apart.low - 2e-3 <= expected <= apart.high + 2e-3
        assert rates.together.average(0, 0.05).value == pytest.approx(
            outcome.mean(), abs=5 * 2e6 / (1e6 * 250 * 4) + 1e-3
        )
    assert misses.max() <= MOST_MISSES


def test_limits_of_inverted_self_reports_hold_the_true_rates() -> None:
    rng, metric = np.random.default_rng(12), FalsePositives()
    response = RandomisedResponse(epsilon=1.5, columns=("a", "b", "c"))
    truth, misses = np.array([0.1, 0.3, 0.2]), np.zeros(5, int)
    for number in range(REPETITIONS):
        group = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
        # The blur by its matrix, as drawing it once per person is tested elsewhere.
        reported = (rng.random(500)[:, None] > response.matrix[group].cumsum(axis=1)).sum(axis=1)
        weights = np.asarray(response.inverted(reported))
        flagged = rng.random(500) < truth[group]
        integers = np.floor(weights * 1000 + 0.5).astype(np.int64)
        cells = integers.T @ metric.rows(flagged, np.zeros(500, bool))
        sums = SoftGroupSums.of(
            response.columns, metric.layout, cells, 1000, weight_squares=(weights**2).sum(axis=0)
        )
        rates = two_party.false_flags(sums)
        averages = [*rates.averages(0.05), rates.together.average(0, 0.05)]
        expected = [*truth, 0.5 * 0.1 + 0.3 * 0.3 + 0.2 * 0.2]
        misses[:4] += [not a.low <= t <= a.high for a, t in zip(averages, expected, strict=True)]
        apart = rates.difference(1, 0, 0.05)
        misses[4] += not apart.low <= 0.2 <= apart.high
        # Without Σw² they would be taken for weights from 0 to 1, and be too sure.
        if not number:
            plain = two_party.false_flags(
                SoftGroupSums.of(response.columns, metric.layout, cells, 1000)
            )
            assert plain.average(2, 0.05).high < averages[2].high
    assert misses.max() <= MOST_MISSES


def test_measured_squares_give_tighter_limits_than_the_range() -> None:
    rng = np.random.default_rng(3)
    outcome = rng.uniform(0.4, 0.6, 500)
    labels = hard(rng.choice(["a", "b"], 500).tolist())
    found = []
    for squares in (False, True):
        metric = Outcomes(0.0, 1.0, squares=squares)
        sums = sums_of(labels, metric.layout, metric.rows(outcome))
        found.append(two_party.outcomes(sums).average(0, 0.05))
    assert found[1].high - found[1].low < 0.2 * (found[0].high - found[0].low)


def test_a_group_that_noise_hides_has_the_whole_range() -> None:
    rates = Ratios(
        ("a", "b"), np.array([-3.0, 50.0]), np.array([-1.0, 100.0]),
        noise_above=25.0, noise_below=25.0,
    )  # fmt: skip
    found = rates.average(0, 0.05)
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0.0, 1.0)
    apart = rates.difference(0, 1, 0.05)
    assert math.isnan(apart.value)
    assert apart.low < 0 < apart.high


def test_what_groups_share_widens_differences_of_graded_values_only() -> None:
    one, other = Average("a", 50.0, 0.9, 0.85, 0.95), Average("b", 50.0, 0.1, 0.05, 0.15)
    graded = Ratios(("a", "b"), np.array([45.0, 5.0]), np.array([50.0, 50.0]))
    sharp = Ratios(("a", "b"), np.array([45.0, 5.0]), np.array([50.0, 50.0]), two_valued=True)
    wide, narrow = (difference(one, other, of, 0.05) for of in (graded, sharp))
    assert narrow.high - narrow.low == pytest.approx(2 * math.sqrt(2) * 0.05)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_integers_of_any_length_are_divided_exactly() -> None:
    layout = Layout(("x",), 3, 0, 3, 3)
    sums = SoftGroupSums.of(("a",), layout, np.array([[3 * 7 * 10**30 + 21]], object), 7)
    assert sums.values[0, 0] == (3 * 7 * 10**30 + 21) / 21


def test_shapes_must_fit() -> None:
    layout = Layout(("x",), 1, 0, 1, 1)
    with refuses(InputError, "shape-of-the-sums"):
        SoftGroupSums(("a", "b"), layout, np.zeros((1, 1)))
    with refuses(InputError, "sums-per-group"):
        Ratios(("a",), np.zeros(2), np.zeros(1))
