"""Every measure holds its truth as often as it says, for every kind of release."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from auditor_client.stats.noise import Gaussian, Laplace, Noise
from validation.metric_coverage import measures, platforms, release

pytestmark = pytest.mark.long

DELTA = 0.3


@pytest.mark.parametrize(
    ("noise", "sizes", "people"),
    [
        (Laplace(1.0), "known", 60),
        pytest.param(Gaussian(2.0), "known", 300, marks=pytest.mark.full),
        pytest.param(Laplace(2.0), "noisy", 120, marks=pytest.mark.full),
        (Gaussian(0.5), "estimated", 150),
        (None, "tree", 250),
    ],
)
def test_limits_miss_no_more_often_than_delta_says(
    noise: Noise | None, sizes: str, people: int
) -> None:
    generator, runs = np.random.default_rng(people), 3 if sizes in ("estimated", "tree") else 7
    missed: Counter[tuple[str, str]] = Counter()
    for platform in platforms():
        sides = [release(platform, people, noise, sizes, generator) for _ in range(runs)]
        for name, measure, truth in measures(platform):
            for estimate in (measure(*pair, DELTA) for pair in sides):
                assert estimate.low <= estimate.high, name
                missed[name, "low"] += estimate.low > truth + 1e-9
                missed[name, "high"] += estimate.high < truth - 1e-9
    # 5 cases, 6 measures, 2 sides, each by a binomial test at 1e-8: fails falsely in under 1e-6.
    most = stats.binom.ppf(1 - 1e-8, runs * len(platforms()), DELTA / 2)
    assert max(missed.values()) <= most, missed


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
    # Parity .3 at 2,000 people: nineteen standard deviations.
    generator = np.random.default_rng(6)
    even = np.full(10, 0.1)
    low = np.where(np.arange(10) < 5, 0.2 * 0.8, 0.2 * 0.2)
    platform = type(platforms()[0])("far", (even, low))
    for noise, sizes in ((Laplace(1.0), "known"), (Gaussian(1.0), "noisy"), (None, "tree")):
        pair = release(platform, 2000, noise, sizes, generator)
        for name, measure, _ in measures(platform):
            estimate = measure(*pair, 0.05)
            # Medians are known to a bin each, and lie two bins apart.
            assert estimate.low > estimate.fair or name == "median", (name, sizes)
            assert estimate.low >= estimate.fair - 1e-9, (name, sizes)
