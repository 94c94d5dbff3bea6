import numpy as np
import pytest

from auditor_client import InputError, two_party
from auditor_client.demographics import Probabilities, clipped, hard
from auditor_client.two_party import Ratios
from tests.auditor_client.two_party.plain import soft
from tests.refusals import refuses

SECRET = b"a secret of the tests, 32 bytes."
PEOPLE = 60_000


def weighted(weights: Probabilities, values: np.ndarray) -> Ratios:
    w = np.asarray(weights)
    return Ratios(weights.columns, w.T @ values, w.sum(axis=0), two_valued=True)


def test_hard_labels_lose_nothing() -> None:
    labels = hard(["a", "b", "a", "c"])
    found = two_party.attenuation(labels, labels)
    assert found.matrix.tolist() == np.eye(3).tolist()
    assert found.left("a", "c") == 1.0
    assert two_party.share_left(labels, "a") == pytest.approx(1.0)


def test_soft_labels_shrink_a_gap_as_said_and_the_correction_restores_it() -> None:
    rng = np.random.default_rng(31)
    probabilities, group = soft(rng, PEOPLE, 3, sharpness=0.5)
    truth = np.array([0.2, 0.5, 0.35])
    values = (rng.random(PEOPLE) < truth[group]).astype(float)
    averages = weighted(probabilities, values).averages(1e-6)
    shrunk = averages[1].value - averages[0].value
    found = two_party.attenuation(probabilities, probabilities)
    assert shrunk == pytest.approx(found.left("g1", "g0") * 0.3, abs=0.02)
    corrected = found.corrected(averages, "g1", "g0")
    assert corrected.low <= 0.3 <= corrected.high
    assert abs(corrected.value - 0.3) < 0.03 < abs(shrunk - 0.3)


def test_clipping_shrinks_more_and_is_corrected_too() -> None:
    rng = np.random.default_rng(32)
    probabilities, group = soft(rng, PEOPLE, 2, sharpness=0.2)
    weights = clipped(probabilities, range(PEOPLE), SECRET)
    values = (rng.random(PEOPLE) < np.array([0.2, 0.6])[group]).astype(float)
    found = two_party.attenuation(weights, probabilities)
    naive = two_party.attenuation(weights, weights)
    assert found.left("g1", "g0") < two_party.attenuation(probabilities, probabilities).left(
        "g1", "g0"
    )
    averages = weighted(weights, values).averages(1e-6)
    corrected = found.corrected(averages, "g1", "g0")
    assert corrected.low <= 0.4 <= corrected.high
    # To take clipped vectors for calibrated would correct too much.
    assert naive.corrected(averages, "g1", "g0").value > 0.42


def test_two_groups_keep_the_share_that_lambda_says() -> None:
    probabilities, _ = soft(np.random.default_rng(33), 5000, 2)
    found = two_party.attenuation(probabilities, probabilities)
    assert found.left("g0", "g1") == pytest.approx(two_party.share_left(probabilities, "g0"))


def test_the_truth_lies_in_the_sandwich_where_its_conditions_hold() -> None:
    rng = np.random.default_rng(34)
    probabilities, group = soft(rng, PEOPLE, 2, sharpness=0.6)
    share, member = probabilities["g1"], group == 1
    # Treated by group and by proxies, in the same direction: both covariances are positive.
    values = (rng.random(PEOPLE) < 0.1 + 0.3 * member + 0.3 * share).astype(float)
    truth = values[member].mean() - values[~member].mean()
    averages = weighted(probabilities, values).averages(0.05)
    found = two_party.sandwich(probabilities, "g1", averages[1].value, averages[0].value)
    assert found.low + 0.02 < truth < found.high - 0.02
    assert found.left == pytest.approx(two_party.share_left(probabilities, "g1"))


def test_the_two_identities_behind_the_sandwich() -> None:
    rng = np.random.default_rng(35)
    levels = np.array([0.1, 0.4, 0.9])
    share = levels[rng.integers(0, 3, 200_000)]
    member = rng.random(200_000) < share
    values = 0.2 * member + 0.5 * share * (1 - member) + rng.normal(0, 0.1, 200_000)
    truth = values[member].mean() - values[~member].mean()
    within = sum(
        np.cov(values[share == level], member[share == level])[0, 1] * np.mean(share == level)
        for level in levels
    )
    inside, outside = np.average(values, weights=share), np.average(values, weights=1 - share)
    assert inside - outside == pytest.approx(truth - within / member.var(), abs=0.01)
    given = sum(
        np.cov(values[member == one], share[member == one])[0, 1] * np.mean(member == one)
        for one in (True, False)
    )
    corrected = np.cov(values, share)[0, 1] / share.var()
    assert corrected == pytest.approx(truth + given / share.var(), abs=0.01)


def test_limits_without_assumptions_hold_the_truth_and_are_reached() -> None:
    rng = np.random.default_rng(36)
    share, size = np.array([0.2, 0.7]), np.array([40_000, 40_000])
    stratum = np.repeat([0, 1], size)
    member = rng.random(80_000) < share[stratum]
    for values in (member, ~member, rng.random(80_000) < 0.3 + 0.4 * member):
        mean = np.array([values[stratum == s].mean() for s in (0, 1)])
        held = np.array([member[stratum == s].mean() for s in (0, 1)])
        low, high = two_party.frechet(held, mean, size.astype(float))
        assert low - 1e-9 <= values[member].mean() <= high + 1e-9
    assert two_party.frechet(np.array([0.5]), np.array([0.5]), np.array([10.0])) == (0.0, 1.0)


def test_what_cannot_be_corrected_is_refused() -> None:
    alike = Probabilities(np.tile([0.5, 0.5], (100, 1)), ("a", "b"))
    found = two_party.attenuation(alike, alike)
    averages = weighted(alike, np.zeros(100)).averages(0.05)
    with refuses(InputError, "vectors-too-alike"):
        found.corrected(averages, "a", "b")
    with refuses(InputError, "equal-probabilities"):
        two_party.sandwich(alike, "a", 0.5, 0.5)
    with refuses(InputError, "nobody-to-compare"):
        two_party.share_left(hard(["a"], ["a", "b"]), "a")
    with refuses(InputError, "group-without-weight"):
        two_party.attenuation(hard(["a"], ["a", "b"]), hard(["a"], ["a", "b"]))
    with refuses(InputError, "other-people"):
        two_party.attenuation(alike, alike[:3])
