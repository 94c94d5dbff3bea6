"""Planning: the theorems as printed, and numbers of rows that keep their promise."""

import math

import numpy as np
import pytest

from auditor_client import reo
from auditor_client.errors import InputError
from auditor_client.stats.noise_distributions import Laplace
from tests.refusals import refuses

Q, P = {"a": 0.1, "b": 0.25}, {"a": 0.01, "b": 0.05}


def kept(q: dict[str, float], p: dict[str, float], rows: reo.TrafficRows, error: float) -> float:
    """Return the rate of estimates within the error."""
    rng = np.random.default_rng(1)
    x, w = (
        rng.multinomial(n, [*shares.values(), 1 - sum(shares.values())], 20_000)[:, :-1] / n
        for n, shares in ((rows.recommended, q), (rows.random, p))
    )
    u, truth = x / w, np.array(list(q.values())) / np.array(list(p.values()))
    found = u.std(axis=1) / u.mean(axis=1)
    return float(np.mean(np.abs(found - truth.std() / truth.mean()) <= error))


@pytest.mark.parametrize(
    ("q", "p"),
    [
        (Q, P),
        ({"a": 0.2, "b": 0.1}, {"a": 0.1, "b": 0.05}),  # fair
        ({**Q, "c": 0.2}, {**P, "c": 0.03}),
        ({"a": 0.1, "b": 0.2, "c": 0.2}, {"a": 0.05, "b": 0.1, "c": 0.1}),  # fair
    ],
)
def test_the_planned_rows_keep_the_guarantee(q: dict[str, float], p: dict[str, float]) -> None:
    rows = reo.rows_needed(q, p, 0.05)
    # 20,000 runs at 95 %: off by .008 once in a million, and the law is only nearly normal.
    assert 0.942 < kept(q, p, rows, 0.05) < 0.97
    assert reo.error_at(q, p, rows) == pytest.approx(0.05, rel=1e-3)


def test_the_theorems_as_printed() -> None:
    assert reo.share_rows(0.01, 0.05) == math.ceil(3 / 0.01 / 0.05**2 * math.log(40))
    u = np.array([10.0, 5.0])
    n3 = 4 * 4 / (15**2 * 0.05**2) * math.log(2 / 0.05)
    n4 = 4 * 4 / (15**2 * 0.05**2) * math.log(1 / 0.05)
    for method, n in (("theorem-e3", n3), ("theorem-e4", n4)):
        found = reo.rows_needed(Q, P, 0.05, method=method)  # type: ignore[arg-type]
        assert found.recommended == math.ceil(n * max(u**2 * np.array([9, 3])))
        assert found.random == math.ceil(n * max(u**2 * np.array([99, 19])))
        assert kept(Q, P, found, 0.05) > 0.99


def kept_utility(rows: reo.TrafficRows, error: float, scale: float = 0.0) -> float:
    """Return the rate of estimates within the error, for the utility that varies most."""
    rng = np.random.default_rng(2)
    x = rng.binomial(rows.recommended, Q["a"], 20_000) + rng.laplace(0, scale, 20_000)
    w = rng.binomial(rows.random, P["a"], 20_000) + rng.laplace(0, scale, 20_000)
    found = x / rows.recommended / (w / rows.random)
    return float(np.mean(np.abs(found - Q["a"] / P["a"]) <= error))


def test_utilities_have_the_planned_accuracy() -> None:
    # U = (10, 5), n = ⌈4/.25 ln 20⌉ = 48   [Theorem E.2 by hand]
    printed = reo.utility_rows(Q, P, 0.5, method="theorem-e2")
    assert printed == reo.TrafficRows(48 * 100 * 9, 48 * 100 * 99)
    # erfc(√ln 20) = .0144 is left of δ; 20,000 runs are off by .004 once in a million.
    assert kept_utility(printed, 0.5) == pytest.approx(1 - 0.0144, abs=0.006)
    # z² U² ((1 - q)/q + (1 - p)/p) / ε²
    exact = reo.utility_rows(Q, P, 0.5)
    assert exact.recommended == pytest.approx(1.959964**2 * 100 * (9 + 99) / 0.25, abs=1)
    # 20,000 runs at 95 %: off by .008 once in a million, and a ratio is only nearly normal.
    assert 0.942 < kept_utility(exact, 0.5) < 0.97
    noisy = reo.utility_rows(Q, P, 0.5, noise=Laplace(0.02))
    assert noisy.recommended > exact.recommended
    assert 0.942 < kept_utility(noisy, 0.5, scale=50) < 0.98


def test_a_utility_of_known_size_has_an_error_in_its_own_units() -> None:
    told = reo.utility_rows(Q, P, 0.5 * 0.01, shown_share=0.01)
    assert told == reo.utility_rows(Q, P, 0.5)
    printed = reo.utility_rows(Q, P, 0.005, method="theorem-e2", shown_share=0.01)
    assert printed.random == pytest.approx(
        reo.utility_rows(Q, P, 0.5, method="theorem-e2").random, rel=0.01
    )


def test_noise_and_clusters_ask_for_more_rows() -> None:
    plain = reo.rows_needed(Q, P, 0.05).recommended
    assert reo.rows_needed(Q, P, 0.05, noise=Laplace(0.05)).recommended > plain
    assert reo.rows_needed(Q, P, 0.05, rows_per_viewer=4).recommended == pytest.approx(
        4 * plain, rel=1e-3
    )


def test_random_traffic_and_what_it_costs() -> None:
    found = reo.random_traffic(Q, P, 0.05, n_recommended=150_000, requests=1e8, shown=8)
    assert found.activation == pytest.approx(found.rows / 8e8)
    # A random row is relevant with probability .06 instead of .35.
    assert found.lost == pytest.approx(found.activation * (1 - 0.06 / 0.35))
    error = reo.error_at(Q, P, reo.TrafficRows(150_000, found.rows))
    assert error == pytest.approx(0.05, rel=1e-3)
    with refuses(InputError, "few-rows-of-default-traffic"):
        reo.random_traffic(Q, P, 0.001, n_recommended=1_000, requests=1e8, shown=8)
    with refuses(InputError, "few-requests"):
        reo.random_traffic(Q, P, 0.05, n_recommended=150_000, requests=10, shown=8)


def test_more_random_traffic_is_more_exact_and_less_relevant() -> None:
    rates = [1e-4, 1e-3, 1e-2]
    found = reo.tradeoff(Q, P, rates, n_recommended=150_000, requests=1e6, shown=8)
    errors, losses = [error for _, error in found], [one.lost for one, _ in found]
    assert errors == sorted(errors, reverse=True)
    assert losses == sorted(losses)
    noisy = reo.tradeoff(
        Q, P, rates, n_recommended=150_000, requests=1e6, shown=8, noise=Laplace(0.01)
    )
    assert all(more > less for (_, more), less in zip(noisy, errors, strict=True))


def test_traffic_that_is_none_is_refused() -> None:
    for changed in ({"requests": 0.0}, {"shown": 0}, {"n_recommended": 0}):
        sizes = {"n_recommended": 150_000, "requests": 1e6, "shown": 8} | changed
        with refuses(InputError, "not-positive"):
            reo.random_traffic(Q, P, 0.05, **sizes)
        with refuses(InputError, "not-positive"):
            reo.tradeoff(Q, P, [0.1], **sizes)
    with refuses(InputError, "not-a-probability"):
        reo.tradeoff(Q, P, [1.5], n_recommended=10, requests=10, shown=1)


def test_shares_that_are_none_are_refused() -> None:
    for q in ({"a": 0.1}, {"a": 0.6, "b": 0.6}, {"a": 0.0, "b": 0.1}):
        with pytest.raises(InputError):
            reo.rows_needed(q, P, 0.05)
    with refuses(InputError, "never-enough-rows"):
        reo.rows_needed(Q, P, 1e-9)
