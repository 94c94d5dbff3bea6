"""A/B tests against one random traffic: what both strategies share is not counted twice."""

import math

import numpy as np
import pytest

from auditor_client import reo
from auditor_client.stats.noise_distributions import Laplace

N = 150_000
TRAFFICS = (
    {"a": 0.33 * N, "b": 0.3 * N},
    {"a": 0.3 * N, "b": 0.3 * N},
    {"a": 0.2 * N, "b": 0.25 * N},
)


def drawn(rng: np.random.Generator, runs: int) -> list[np.ndarray]:
    shares = ([0.33, 0.3, 0.37], [0.3, 0.3, 0.4], [0.2, 0.25, 0.55])
    return [rng.multinomial(N, share, runs)[:, :2] for share in shares]


def changed(names: str, *rows: np.ndarray) -> reo.PenaltyDifference:
    treatment, control, random = (dict(zip(names, row, strict=True)) for row in rows)
    return reo.difference(treatment, control, random)


def test_the_error_is_that_of_a_simulation_and_not_algorithm_2s() -> None:
    treatment, control, random = drawn(np.random.default_rng(1), 20_000)
    spread = [u.std(axis=1) / u.mean(axis=1) for u in (treatment / random, control / random)]
    truth = float((spread[0] - spread[1]).std())
    found = reo.difference(*TRAFFICS, N, N, N)
    assert found.se == pytest.approx(truth, rel=0.025)
    assert found.se == pytest.approx(0.0046, abs=5e-5)
    printed = reo.difference(*TRAFFICS, N, N, N, covariance="printed")
    assert printed.se == pytest.approx(0.0061, abs=5e-5)
    ends = [reo.penalty(one, TRAFFICS[2], N, N, covariance="printed").se for one in TRAFFICS[:2]]
    assert printed.se == pytest.approx(math.hypot(*ends))


def test_the_interval_holds_away_from_zero_and_for_each_group() -> None:
    treatment, control, random = drawn(np.random.default_rng(2), 400)
    u = [np.array([0.33, 0.3]) / [0.2, 0.25], np.array([0.3, 0.3]) / [0.2, 0.25]]
    truth = u[0].std() / u[0].mean() - u[1].std() / u[1].mean()
    each = u[0][0] / u[0].mean() - u[1][0] / u[1].mean()
    held = [0, 0]
    for rows in zip(treatment, control, random, strict=True):
        found = changed("ab", *rows)
        held[0] += found.low <= truth <= found.high
        held[1] += found.delta_u["a"].low <= each <= found.delta_u["a"].high
    # 400 runs at 95 %: less than 89.25 % once in a million.
    assert min(held) >= 0.8925 * 400


@pytest.mark.parametrize(
    ("x", "y"), [((1000, 1000), (1000, 1000)), ((1300, 1000), (1000, 1000)), ((1000,) * 3,) * 2]
)
def test_the_interval_holds_where_a_penalty_is_zero(x: tuple[int, ...], y: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    w = np.full(len(x), 900.0)
    truth = np.std(x) / np.mean(x) - np.std(y) / np.mean(y)
    names = "abc"[: len(x)]
    held = 0
    for _ in range(100):
        found = changed(names, rng.poisson(x), rng.poisson(y), rng.poisson(w))
        held += bool(found.low <= truth <= found.high)
    # 100 runs at 95 %: less than 83 % once in a million.
    assert held >= 83


def test_verdicts_of_a_change() -> None:
    worse = reo.difference(*TRAFFICS)
    assert worse.verdict == "less fair"
    assert "less fair" in worse.explain()
    assert worse.treatment.penalty > worse.control.penalty
    better = reo.difference(TRAFFICS[1], TRAFFICS[0], TRAFFICS[2])
    assert better.verdict == "fairer"
    assert (better.low, better.high) == pytest.approx((-worse.high, -worse.low))
    same = reo.difference(TRAFFICS[1], TRAFFICS[1], TRAFFICS[2])
    assert same.verdict == "inconclusive"


def test_noise_widens_and_small_counts_are_bounded() -> None:
    law = Laplace(1 / 100)
    wide = reo.difference(*TRAFFICS, noise_treatment=law, noise_control=law, noise_random=law)
    plain = reo.difference(*TRAFFICS)
    assert wide.se > plain.se
    few = reo.difference({"a": 5, "b": 900}, {"a": 6, "b": 900}, {"a": 3, "b": 800})
    assert few.low < 0 < few.high
    assert few.verdict == "inconclusive"
