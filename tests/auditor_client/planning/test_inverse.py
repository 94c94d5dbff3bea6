"""The inverse questions, and audits that look early."""

from typing import Any

import numpy as np
import pytest

from auditor_client.fairness.gap import fairness_gap
from auditor_client.planning.inverse import (
    after_pilot,
    epsilon_needed,
    pilot_shape,
    power_at,
    resolvable_alpha,
    rho_needed,
    split_budget,
)
from auditor_client.planning.power_simulation import discrete_laplace
from auditor_client.planning.sample_size import verdict_size
from auditor_client.planning.sequential import look_delta, pooled_gap, sequential_plan
from auditor_client.stats import noise


def test_power_is_what_verdict_size_was_planned_for() -> None:
    people = verdict_size(0.3, bins=5)
    assert power_at(people, 0.0, 0.3, bins=5).fair == pytest.approx(0.8, abs=0.06)
    assert power_at(people, 0.6, 0.3, bins=5).unfair > 0.75
    at_the_limit = power_at(people, 0.3, 0.3, bins=5)
    # A verdict errs in at most .05 on each side; 600 audits, 1e-9.
    assert max(at_the_limit.fair, at_the_limit.unfair) <= 0.11
    assert at_the_limit.inconclusive > 0.78


def test_alpha_and_epsilon_solve_the_same_question() -> None:
    people = verdict_size(0.3, bins=5, epsilon=0.5)
    assert resolvable_alpha(people, bins=5, epsilon=0.5) == pytest.approx(0.3, rel=0.06)
    assert epsilon_needed(people, 0.3, bins=5) == pytest.approx(0.5, rel=0.3)


def test_the_same_questions_are_answered_for_gaussian_noise() -> None:
    gaussian: dict[str, Any] = {"mechanism": "discrete-gaussian", "rho": 0.05}
    people = verdict_size(0.3, bins=5, **gaussian)
    assert power_at(people, 0.0, 0.3, bins=5, **gaussian).fair == pytest.approx(0.8, abs=0.06)
    assert resolvable_alpha(people, bins=5, **gaussian) == pytest.approx(0.3, rel=0.06)
    assert rho_needed(people, 0.3, bins=5) == pytest.approx(0.05, rel=0.6)
    # Noise hardly matters at the largest rho that is tried.
    assert verdict_size(0.2, bins=5, mechanism="discrete-gaussian", rho=100) == pytest.approx(
        verdict_size(0.2, bins=5, epsilon=None), rel=0.04
    )
    with pytest.raises(ValueError, match=r"\brho\b.*\b20\b.*\b14\d\b"):
        rho_needed(20, 0.2, bins=5)
    split = split_budget(0.2, [90, 400], 0.3, bins=5, mechanism="discrete-gaussian")
    assert split.epsilons[0] > split.epsilons[1] > 0
    assert sum(split.epsilons) <= 0.2
    pilot = {"a": [12, 9, 11, 8], "b": [9, 12, 8, 11]}
    assert after_pilot(pilot, 0.3, **gaussian) > after_pilot(
        pilot, 0.3, mechanism="discrete-gaussian", rho=5
    )


def test_gaussian_batches_are_read_with_their_own_noise() -> None:
    plan = sequential_plan(0.3, looks=2, bins=3, mechanism="discrete-gaussian", rho=0.25)
    half = {"a": [20, 10, 10], "b": [12, 14, 14]}
    sizes = [{"a": 40, "b": 40}] * 2
    delta = look_delta(2, 0.05, 2)
    law = noise.sum_of_draws(noise.Gaussian(2.0), 2)
    added = {"a": [40, 20, 20], "b": [24, 28, 28]}
    assert plan.read([half, half], sizes) == fairness_gap(
        added, {"a": 80, "b": 80}, delta=delta, noise=law
    )
    bought = plan.read([half, half], None, sizes)
    assert bought == fairness_gap(
        added,
        delta=delta,
        noise=law,
        noisy_sizes={"a": 80, "b": 80},
        size_noise=noise.sum_of_draws(noise.Gaussian(32.0), 2),
    )


def test_too_few_people_get_a_warning() -> None:
    with pytest.raises(ValueError, match=r"\bepsilon\b.*\b20\b.*\b1\d\d\b"):
        epsilon_needed(20, 0.2, bins=5)
    with pytest.raises(ValueError, match=r"^3\b"):
        resolvable_alpha(3, bins=5)
    with pytest.raises(ValueError, match="people"):
        power_at(1, 0.0)
    with pytest.raises(ValueError, match="true_gap"):
        power_at(100, 1.5)


def test_a_budget_is_shared_and_never_exceeded() -> None:
    even = split_budget(1.0, [150, 150], 0.3, bins=5)
    assert even.epsilons[0] == pytest.approx(even.epsilons[1])
    uneven = split_budget(1.0, [90, 400], 0.3, bins=5)
    assert uneven.epsilons[0] > uneven.epsilons[1] > 0
    assert sum(uneven.epsilons) <= 1
    halves = min(power_at(90, 0.0, 0.3, bins=5, epsilon=0.5).fair, 1.0)
    assert uneven.power >= halves - 0.01


def test_a_pilot_tells_where_scores_fall() -> None:
    generator = np.random.default_rng(3)
    pilot = {
        name: [
            int(c)
            for c in generator.multinomial(80, [0.1] * 10) + discrete_laplace(generator, 1.0, 10)
        ]
        for name in ("a", "b")
    }
    shape = pilot_shape(pilot)
    assert sum(shape) == pytest.approx(1)
    assert min(shape) >= 0
    # Scores spread evenly are about the hardest to judge above every edge.
    assert after_pilot(pilot, 0.3) == pytest.approx(verdict_size(0.3, bins=10), rel=0.15)
    assert after_pilot(pilot, 0.3, spent=0.04) > after_pilot(pilot, 0.3)
    with pytest.raises(ValueError, match=r"delta = 0\.05"):
        after_pilot(pilot, spent=0.05)
    with pytest.raises(ValueError, match="counts"):
        pilot_shape({"a": [0, -1], "b": [0, 0]})


@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_looks_spend_delta_once(delta: float) -> None:
    for looks in (1, 3, 10):
        parts = [look_delta(k, delta, looks) for k in range(1, looks + 1)]
        assert min(parts) > 0
        assert sum(parts) == pytest.approx(delta)
        assert parts[0] == min(parts)
    assert sum(look_delta(k, delta) for k in range(1, 2000)) < delta
    with pytest.raises(ValueError, match="look"):
        look_delta(4, delta, 3)


def test_looking_early_has_a_price_and_a_gain() -> None:
    plan = sequential_plan(0.3, looks=3, bins=5)
    assert plan.single <= plan.most <= 1.6 * plan.single
    assert plan.price == pytest.approx(plan.most / plan.single)
    assert plan.expected_if_unfair < plan.most
    assert plan.looks[-1].fair > 0.74
    assert sum(look.delta for look in plan.looks) == pytest.approx(0.05)
    with pytest.raises(ValueError, match="look"):
        sequential_plan(looks=0)


def test_batches_are_added_up_with_their_noise() -> None:
    batches = [{"a": [30, 20], "b": [25, 25]}, {"a": [28, 22], "b": [27, 23]}]
    sizes = [{"a": 50, "b": 50}, {"a": 50, "b": 50}]
    pooled = pooled_gap(batches, sizes, 1.0, 0.05)
    added = {"a": [58, 42], "b": [52, 48]}
    law = noise.sum_of_draws(1.0, 2)
    assert pooled == fairness_gap(added, {"a": 100, "b": 100}, delta=0.05, noise=law)
    assert pooled.high > fairness_gap(added, {"a": 100, "b": 100}, 1.0, 0.05).high
    noisy = pooled_gap(batches, None, 1.0, 0.05, sizes, 0.25)
    assert noisy.high > pooled.high
    with pytest.raises(ValueError, match=r"batch.*sizes"):
        pooled_gap(batches, sizes[:1], 1.0, 0.05)
    with pytest.raises(ValueError, match=r"batches.*groups.*bins"):
        pooled_gap([*batches, {"a": [1, 2, 3], "b": [1, 2, 3]}], None, 1.0, 0.05)


def test_an_audit_that_stops_when_it_can_is_seldom_wrong() -> None:
    # A gap just above alpha: every look that says `fair` errs, in all in at most delta = .2.
    # 60 audits, binomial at 1e-6: more than 28 would be needed.
    plan, generator, wrong = (
        sequential_plan(0.3, delta=0.2, looks=3, bins=3),
        np.random.default_rng(5),
        0,
    )
    shares = [[0.65, 0.175, 0.175], [0.345, 0.48, 0.175]]
    for _ in range(60):
        batches = []
        for _ in range(3):
            batches.append(
                {
                    name: [
                        int(c)
                        for c in generator.multinomial(plan.batch, row)
                        + discrete_laplace(generator, 1.0, 3)
                    ]
                    for name, row in zip("ab", shares, strict=True)
                }
            )
            sizes = [{"a": plan.batch, "b": plan.batch}] * len(batches)
            verdict = plan.read(batches, sizes).verdict(0.3)
            wrong += verdict == "fair"
            if verdict != "inconclusive":
                break
    assert wrong <= 28
