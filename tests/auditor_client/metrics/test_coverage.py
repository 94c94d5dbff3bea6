"""Every measure holds its truth as often as it says, for every kind of release."""

import numpy as np
import pytest
from scipy import stats

from auditor_client.noise import Gaussian, Laplace, Noise
from bench.metric_coverage import measures, platforms, release

RUNS, DELTA = 24, 0.3


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    ("noise", "sizes", "people"),
    [
        (Laplace(1.0), "known", 60),
        (Gaussian(2.0), "known", 300),
        (Laplace(2.0), "noisy", 120),
        (Gaussian(0.5), "estimated", 150),
        (None, "tree", 250),
    ],
)
def test_limits_miss_no_more_often_than_delta_says(
    noise: Noise | None, sizes: str, people: int, number: int
) -> None:
    platform, generator = platforms()[number], np.random.default_rng(number)
    runs = RUNS // 3 if sizes in ("estimated", "tree") else RUNS
    sides = [release(platform, people, noise, sizes, generator) for _ in range(runs)]
    # 20 cases of 6 measures and 2 sides, each by a binomial test at 2e-9: together below 5e-7.
    most = stats.binom.ppf(1 - 2e-9, runs, DELTA / 2)
    for name, measure, truth in measures(platform):
        found = [measure(*pair, DELTA) for pair in sides]
        assert all(estimate.low <= estimate.high for estimate in found), name
        assert sum(estimate.low > truth + 1e-9 for estimate in found) <= most, name
        assert sum(estimate.high < truth - 1e-9 for estimate in found) <= most, name


@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(1.0)])
def test_limits_are_not_wasteful(noise: Noise) -> None:
    # At 400 people: a normal approximation has half-widths of about .073 (parity), .044 (mean).
    generator, platform = np.random.default_rng(5), platforms()[0]
    sides = [release(platform, 400, noise, "known", generator) for _ in range(3)]
    widths = {
        name: np.mean([e.high - e.low for e in (measure(*pair, 0.05) for pair in sides)]) / 2
        for name, measure, _ in measures(platform)
    }
    assert widths["parity"] < 1.2 * 0.073
    assert widths["mean"] < 1.8 * 0.044
    assert widths["KS"] * 2 < 0.16
    assert widths["W1"] * 2 < 0.12


def test_a_real_difference_is_found() -> None:
    # Parity .6 at 400 people: more than ten standard deviations.
    generator = np.random.default_rng(6)
    even = np.full(10, 0.1)
    low = np.where(np.arange(10) < 5, 0.2 * 0.8, 0.2 * 0.2)
    platform = type(platforms()[0])("far", (even, low))
    for noise, sizes in ((Laplace(1.0), "known"), (Gaussian(1.0), "noisy"), (None, "tree")):
        pair = release(platform, 2000, noise, sizes, generator)
        for name, measure, _ in measures(platform):
            estimate = measure(*pair, 0.05)
            assert estimate.low > estimate.fair, (name, sizes)
