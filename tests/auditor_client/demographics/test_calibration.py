import numpy as np
import pytest

from auditor_client import InputError
from auditor_client.demographics import (
    Probabilities,
    RandomisedResponse,
    WorseThanBaseRatesWarning,
    calibration,
)
from tests.refusals import refuses

NAMES = ("a", "b", "c")
SECRET = b"a secret of the tests, 32 bytes."


def drawn(people: int, seed: int) -> tuple[Probabilities, list[str]]:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet([1.0, 0.6, 0.3], people)
    codes = (rng.random(people)[:, None] > rows.cumsum(axis=1)).sum(axis=1)
    return Probabilities(rows, NAMES), [NAMES[code] for code in codes]


def test_cross_entropy_by_hand() -> None:
    found = Probabilities([[0.5, 0.5, 0], [0.1, 0.6, 0.3], [0, 0, 1.0]], NAMES)
    with pytest.warns(WorseThanBaseRatesWarning):
        check = calibration(found, ["a", "b", "b"])
    expected = -(np.log(0.5) + np.log(0.6) + np.log(1e-4)) / 3
    assert check.cross_entropy == pytest.approx(expected)
    assert check.impossible == 1
    assert check.baseline == pytest.approx(-(np.log(1 / 3) / 3 + 2 * np.log(2 / 3) / 3))
    assert check.by_group["b"].cross_entropy == pytest.approx(-(np.log(0.6) + np.log(1e-4)) / 2)


def test_vectors_that_hold_pass_and_tilted_ones_fail() -> None:
    found, labels = drawn(20_000, 8)
    good = calibration(found, labels, delta=1e-6)
    assert all(check.calibrated for check in good.by_group.values())
    assert good.cross_entropy < good.baseline
    tilted = np.asarray(found) * [1.0, 1.5, 1.0]
    tilted /= tilted.sum(axis=1, keepdims=True)
    bad = calibration(Probabilities(tilted, NAMES), labels, delta=1e-6)
    assert not bad.by_group["b"].calibrated
    assert bad.cross_entropy > good.cross_entropy


def test_blurred_labels_give_the_same_answer_once_inverted() -> None:
    found, labels = drawn(20_000, 9)
    response = RandomisedResponse(epsilon=2.0, columns=NAMES)
    reported = response.reported(labels, range(20_000), SECRET)
    true, blurred = calibration(found, labels), calibration(found, response.inverted(reported))
    # The blur alone moves it by less than its own standard error times 5.5, in all but 1e-6.
    assert abs(true.cross_entropy - blurred.cross_entropy) < 5.5 * blurred.se
    with pytest.warns(WorseThanBaseRatesWarning):
        raw = calibration(found, [NAMES[code] for code in reported])
    assert abs(raw.cross_entropy - true.cross_entropy) > 5.5 * raw.se


def test_it_needs_a_label_each() -> None:
    found, labels = drawn(10, 1)
    with refuses(InputError, "label-per-vector"):
        calibration(found, labels[:-1])


def test_labels_that_are_worse_than_base_rates_are_warned_of_with_both_figures() -> None:
    rng = np.random.default_rng(3)
    labels = rng.choice(NAMES, 500, p=[0.7, 0.2, 0.1]).tolist()
    # Confident and unrelated to the truth.
    unrelated = Probabilities(rng.dirichlet([0.3, 0.3, 0.3], 500), NAMES)
    with pytest.warns(WorseThanBaseRatesWarning, match="worse than base rates") as caught:
        check = calibration(unrelated, labels)
    assert check.worse_than_base_rates
    assert check.cross_entropy > check.baseline
    words = str(caught[0].message)
    assert f"{check.cross_entropy:.3f}" in words
    assert f"{check.baseline:.3f}" in words
    # Those that know the shares alone are as good as the baseline, but for rounding.
    good, true = drawn(2_000, 4)
    assert "better than base rates" in calibration(good, true).explain()
