"""Laws of noise against sums written out."""

import math

import numpy as np
import pytest

from auditor_client.stats import noise
from auditor_client.stats.noise import (
    Gaussian,
    Laplace,
    MomentBoundNoise,
    Noise,
    NoNoise,
    Summed,
    TreeError,
)

SIGMAS = [0.05, 0.2, 0.3, 1.0, 4.0, 900.0]


def by_definition(sigma2: float) -> dict[int, float]:
    reach = math.ceil(40 * math.sqrt(sigma2)) + 5
    weights = {k: math.exp(-(k**2) / (2 * sigma2)) for k in range(-reach, reach + 1)}
    total = math.fsum(weights.values())
    return {k: weight / total for k, weight in weights.items()}


@pytest.mark.parametrize("sigma2", SIGMAS)
def test_gaussian_masses_and_tails_are_those_of_the_definition(sigma2: float) -> None:
    exact, law = by_definition(sigma2), Gaussian(sigma2)
    ks = np.arange(-40, 41)
    assert law.mass(ks) == pytest.approx([exact.get(int(k), 0.0) for k in ks], abs=1e-14)
    tails = [math.fsum(p for j, p in exact.items() if j >= k) for k in ks]
    found = law.tail(ks)
    assert found == pytest.approx(tails, abs=3 * noise.REST)
    assert (found[ks >= 1] >= np.array(tails)[ks >= 1] - 1e-15).all()


@pytest.mark.parametrize("sigma2", SIGMAS)
def test_gaussian_moments_are_bounded_from_above_and_closely(sigma2: float) -> None:
    exact, law = by_definition(sigma2), Gaussian(sigma2)
    variance = math.fsum(k * k * p for k, p in exact.items())
    assert variance <= law.variance + 1e-12
    for s in (0.1, 0.7, 2.0):
        s /= math.sqrt(max(sigma2, 1.0))
        direct = math.log(math.fsum(p * math.exp(s * k) for k, p in exact.items()))
        assert direct <= float(law.log_mgf(np.array([s]))[0]) + 1e-12
        if sigma2 >= 1:
            assert direct == pytest.approx(float(law.log_mgf(np.array([s]))[0]), rel=1e-6)


@pytest.mark.parametrize("sigma2", SIGMAS)
def test_gaussian_waves_are_those_of_the_definition(sigma2: float) -> None:
    exact = by_definition(sigma2)
    angles = np.array([0.0, 0.3, 2.0, 3.14, 5.0, -9.0])
    direct = [math.fsum(p * math.cos(u * k) for k, p in exact.items()) for u in angles]
    assert Gaussian(sigma2).wave(angles) == pytest.approx(direct, abs=1e-12)


@pytest.mark.parametrize(
    "law",
    [*(Gaussian(sigma2) for sigma2 in SIGMAS[:-1]), Laplace(0.4), Summed(((Gaussian(1.0), 3),))],
    ids=str,
)
def test_tilted_waves_are_bounded_and_fall(law: Noise) -> None:
    angles, ks = np.linspace(0, np.pi, 40), np.arange(-900, 901)
    masses = law.mass(ks)
    for s in (0.0, 0.05, 0.3, 0.37):
        tilted = masses * np.exp(s * ks)
        direct = np.abs(np.exp(1j * np.outer(angles, ks)) @ tilted) / tilted.sum()
        [found] = law.log_tilted_wave(np.array([s]), 2 * (1 - np.cos(angles)))
        assert (np.exp(found) >= direct - 1e-9).all()
        assert (np.diff(found[np.isfinite(found)]) <= 1e-12).all()
        if law.variance >= 1:
            assert np.exp(found) == pytest.approx(direct, abs=0.01)


def test_nothing_is_known_of_the_waves_of_moments() -> None:
    assert (MomentBoundNoise(Laplace(1.0)).log_tilted_wave(np.ones(2), np.ones(3)) == 0).all()


@pytest.mark.parametrize("sigma2", [0, -1, float("nan"), math.inf, 1e11])
def test_gaussian_noise_without_or_with_far_too_much_variance_is_refused(sigma2: float) -> None:
    with pytest.raises(ValueError, match="sigma²"):
        Gaussian(sigma2)


def test_rho_says_the_variance() -> None:
    assert noise.gaussian_at("0.5") == Gaussian(1.0)
    with pytest.raises(ValueError, match="rho"):
        noise.gaussian_at(0)


LAWS: list[Noise] = [Laplace(1.0), Gaussian(2.0), Laplace(0.3), Gaussian(0.1)]


@pytest.mark.parametrize("one", LAWS)
@pytest.mark.parametrize("other", LAWS)
def test_sums_of_laws_are_convolutions(one: Noise, other: Noise) -> None:
    law = Summed(((one, 2), (other, 1)))
    ks = np.arange(-3000, 3001)
    direct = np.convolve(np.convolve(one.mass(ks), one.mass(ks), "same"), other.mass(ks), "same")
    near = np.abs(ks) <= 60
    assert law.mass(ks[near]) == pytest.approx(direct[near], abs=1e-10)
    assert law.tail(np.array([7]))[0] == pytest.approx(direct[ks >= 7].sum(), abs=1e-10)
    assert law.variance >= (direct * ks**2).sum() - 1e-6
    blocks = noise.round_masses_up(law, 5)
    inside = direct[(ks > 5) & (ks <= 10)].sum()
    assert blocks[len(blocks) // 2 + 2] == pytest.approx(inside, abs=1e-9)


@pytest.mark.parametrize("level", [0.1, 1e-3, 1e-6])
def test_quantiles_of_mixed_sums_are_safe_and_least(level: float) -> None:
    terms: tuple[noise.Term, ...] = ((3, Gaussian(2.0), 5), (1, 0.5, 7), (2, Gaussian(9.0), 1))
    ks = np.arange(-4000, 4001)
    total = np.zeros(len(ks))
    total[len(ks) // 2] = 1.0
    for count, given, weight in terms:
        step = np.zeros(len(ks))
        multiples = ks[np.abs(ks) <= 4000 // weight]
        step[multiples * weight + 4000] = noise.mass(multiples, given)
        for _ in range(count):
            total = np.convolve(total, step, "same")
    q = noise.sum_quantile(terms, level)
    assert total[ks >= q].sum() <= level * (1 + 1e-9)
    assert total[ks >= q - 1].sum() > level * (1 - 1e-3)


def test_laws_without_masses_are_bounded_by_moments() -> None:
    exact = noise.sum_quantile(((4, 1.0, 1),), 0.01)
    bounded = noise.sum_quantile(((1, TreeError(1.0, 4.0), 1),), 0.01)
    assert exact < bounded < 1.6 * exact
    assert noise.sum_quantile(
        ((1, MomentBoundNoise(Gaussian(4.0)), 1),), 0.01
    ) > noise.sum_quantile(((1, Gaussian(4.0), 1),), 0.01)


def test_simulated_noise_follows_its_law() -> None:
    # 20,000 draws; each of 5 laws by a chi-squared test of 7 cells at 1e-8: falsely fails in 5e-8.
    generator = np.random.default_rng(3)
    for law in [*LAWS, Summed(((Laplace(1.0), 3),))]:
        drawn = law.simulated(generator, 20_000)
        cells = np.clip(drawn, -3, 3)
        ks = np.arange(-2, 3)
        outer = float(law.tail(np.array([3]))[0])
        expected = 20_000 * np.concatenate([[outer], law.mass(ks), [outer]])
        observed = np.array([(cells == k).sum() for k in range(-3, 4)])
        kept = expected > 1
        statistic = ((observed - expected)[kept] ** 2 / expected[kept]).sum()
        assert statistic < 50


def test_no_noise_stays_none() -> None:
    assert noise.sum_of_draws(math.inf, 5) == NoNoise()
    assert noise.difference(math.inf, math.inf) == NoNoise()
    assert noise.difference(math.inf, 2.0) == Laplace(2.0)
