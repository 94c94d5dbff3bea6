"""Can releases come from one model? False alarms, alarms, and what receipts must say."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from auditor_client import InputError, ScoreHistogramResult
from auditor_client.consistency.canary import field_check
from auditor_client.consistency.canary_power import canary_power
from auditor_client.consistency.model_test import consistency
from auditor_client.consistency.repeat_test import Cell, same_counts
from auditor_client.stats.noise import Gaussian, Laplace, Noise, difference
from tests.auditor_client.examples import finished, price
from tests.refusals import refuses

TRUE = {"g0": [40, 60, 30, 0], "g1": [45, 54, 20, 1]}


def audit(number: int, counts: dict[str, list[int]], **stated: object) -> ScoreHistogramResult:
    made = finished(counts, kind="bins", paid=price(1.0, None))
    names = {"audit_id": f"audit_{number:030d}"}
    return replace(made, release=made.release.model_copy(update=names | stated))


def noisy(generator: np.random.Generator, noise: Noise) -> dict[str, list[int]]:
    return {
        label: [int(c) for c in np.array(row) + noise.simulated(generator, len(row))]
        for label, row in TRUE.items()
    }


@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(2.0), Laplace(0.2)])
def test_false_alarms_are_as_rare_as_they_say(noise: Noise) -> None:
    generator, runs, level = np.random.default_rng(1), 1500, 0.05
    law = difference(noise, noise)
    found = []
    for _ in range(runs):
        drawn = noise.simulated(generator, 40).reshape(20, 2)
        found.append(same_counts([Cell("", int(a), int(b), law) for a, b in drawn]))
    # Three laws, two tests, each by a binomial test at 1e-8.
    most = stats.binom.ppf(1 - 1e-8, runs, level)
    assert sum(test.differ <= level for test in found) <= most
    assert sum(test.alike <= level for test in found) <= most
    # Not wasteful either: a tenth of the alarms that are allowed would be 7.
    assert sum(test.differ <= level for test in found) >= 8
    assert same_counts([Cell("", 7, 7, law)] * 20).differ == 1.0


def test_repeats_that_differ_by_noise_are_consistent() -> None:
    generator = np.random.default_rng(2)
    audits = [audit(number, noisy(generator, Laplace(1.0))) for number in range(3)]
    found = consistency(audits, "repeat")
    assert found.verdict == "consistent"
    assert found.same_model_stated is True
    assert "no proof" in found.explain()


def test_a_changed_model_is_found_and_where() -> None:
    generator = np.random.default_rng(3)
    first, second = noisy(generator, Laplace(1.0)), noisy(generator, Laplace(1.0))
    second["g1"][2] += 25
    found = consistency([audit(1, first), audit(2, second)], "repeat")
    assert found.verdict == "irreconcilable"
    assert found.worst == "woman, scores 0.666667 to 1"
    assert "signed that one model made all releases" in found.explain()


def test_an_answer_that_is_repeated_is_too_alike() -> None:
    counts = {"g0": [*range(20, 50), 0], "g1": [*range(30, 60), 1]}
    found = consistency([audit(1, counts), audit(2, counts)], "repeat")
    assert found.verdict == "too alike"
    assert "does not agree this well" in found.explain()


def test_receipt_files_will_do(tmp_path: Path) -> None:
    path = finished(TRUE, kind="bins", paid=price(1.0, None)).save_receipt(tmp_path / "r.json")
    with refuses(InputError, "given-twice"):
        consistency([path, str(path)], "repeat")


def test_edits_are_compared_on_one_audience() -> None:
    generator = np.random.default_rng(4)
    edited = {"content_digests": ["sha256:" + "7" * 64]}
    pair = [audit(1, noisy(generator, Laplace(1.0))), audit(2, noisy(generator, Laplace(1.0)))]
    with refuses(InputError, "not-edited"):
        consistency(pair, "edited")
    pair[1] = replace(pair[1], release=pair[1].release.model_copy(update=edited))
    assert consistency(pair, "edited").verdict == "consistent"
    with refuses(InputError, "different-contents"):
        consistency(pair, "repeat")


def test_halves_are_other_people() -> None:
    other = {"audience_commitment": "sha256:" + "8" * 64}
    one, two = audit(1, TRUE), audit(2, TRUE, **other)
    assert consistency([one, two], "halves").verdict == "consistent"
    with refuses(InputError, "same-audience"):
        consistency([one, audit(3, TRUE)], "halves")
    with refuses(InputError, "different-audiences"):
        consistency([one, two], "repeat")
    moved = {"g0": [120, 5, 5, 0], "g1": TRUE["g1"]}
    found = consistency([one, audit(4, moved, **other)], "halves")
    assert (found.verdict, found.worst) == ("irreconcilable", "man")


def test_halves_raise_few_false_alarms() -> None:
    # 30 pairs at a false-alarm rate of .2, a binomial test at 1e-8.
    generator, runs, alarms = np.random.default_rng(6), 30, 0
    for _ in range(runs):
        tables = [generator.multinomial(100, [0.5, 0.3, 0.2, 0.0]) for _ in range(4)]
        counts = [[int(c) for c in t + Laplace(1.0).simulated(generator, 4)] for t in tables]
        one = audit(1, {"g0": counts[0], "g1": counts[1]})
        commitment = "sha256:" + "8" * 64
        two = audit(2, {"g0": counts[2], "g1": counts[3]}, audience_commitment=commitment)
        alarms += consistency([one, two], "halves", 0.2).verdict != "consistent"
    assert alarms <= stats.binom.ppf(1 - 1e-8, runs, 0.2)


def test_other_bins_groups_or_numbers_cannot_be_compared() -> None:
    with refuses(InputError, "few-releases"):
        consistency([audit(1, TRUE)], "repeat")
    with refuses(InputError, "different-bins"):
        consistency([audit(1, TRUE), audit(2, {"g0": [1, 2, 0], "g1": [1, 2, 0]})], "repeat")
    with refuses(InputError, "different-groups"):
        consistency([audit(1, TRUE), audit(2, {"g0": [1, 2, 3, 0]})], "repeat")
    with pytest.raises(InputError, match="false_alarm"):
        consistency([audit(1, TRUE), audit(2, TRUE)], "repeat", 0)


def test_what_else_may_explain_it_is_said() -> None:
    one = audit(1, TRUE)
    later = audit(2, TRUE, released_at=one.release.released_at + timedelta(days=40))
    unstated = replace(later, release=later.release.model_copy(update={"model_digest": None}))
    assert "40 days lie between" in consistency([one, later], "repeat").explain()
    assert "states no model" in consistency([one, unstated], "repeat").explain()
    other = replace(
        later, release=later.release.model_copy(update={"model_digest": "sha256:" + "9" * 64})
    )
    assert "itself states different models" in consistency([one, other], "repeat").explain()


def test_the_field_is_set_against_the_audit() -> None:
    counts = {"g0": [500, 500, 500, 500, 0], "g1": [500, 500, 500, 500, 0]}
    sizes = {"g0": 2000, "g1": 2000}
    fair = finished(counts, kind="known", sizes=sizes, paid=price(1.0, None))
    alike = field_check(fair, {"man": (90, 200), "woman": (100, 200)})
    assert alike.verdict == "consistent"
    apart = field_check(fair, {"man": (980, 1000), "woman": (300, 1000)})
    assert (apart.verdict, apart.groups) == ("irreconcilable", ("man", "woman"))
    for shown in (
        {"man": (1, 2)},
        {"man": (1, 2), "dog": (1, 2)},
        {"man": (3, 2), "woman": (1, 2)},
    ):
        with pytest.raises(InputError):
            field_check(fair, shown)


def test_power_grows_with_what_is_hidden_and_with_people() -> None:
    # Seeds are fixed. No alarm without cause in 100 runs: .01 is the most there may be.
    assert canary_power(0.0, 300, runs=100) <= 0.06
    few, many = (canary_power(0.1, people, runs=60) for people in (150, 600))
    assert few < many
    assert canary_power(0.3, 300, runs=40) == 1.0
    assert canary_power(0.4, 300, design="halves", runs=5, false_alarm=0.01) >= 0.8
    assert canary_power(0.5, 1000, design="field", canaries=1000, runs=5, bins=40) >= 0.8
    with pytest.raises(ValueError, match="special"):
        canary_power(0.7, 300)
    with pytest.raises(ValueError, match="canaries"):
        canary_power(0.2, 300, design="field")
