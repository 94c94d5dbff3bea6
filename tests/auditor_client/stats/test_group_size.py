"""Numbers of scored people and their limits."""

import math

import numpy as np
import pytest
from scipy import stats

from auditor_client.planning.power_simulation import discrete_laplace
from auditor_client.stats.group_size import GroupSizeEstimate


def test_a_known_number_is_its_own_limits() -> None:
    size = GroupSizeEstimate(total=90, bins=5, rate=1.0, known=100)
    assert size.limits(0.01) == (100, 100)
    assert size.estimate == 100
    assert size.kind == "known"


@pytest.mark.parametrize("kind", ["noisy", "estimated"])
def test_limits_miss_as_seldom_as_they_say(kind: str) -> None:
    # 4000 trials at level .05 each side: a binomial test at 1e-7 per side, four of them in all.
    generator, trials, level, people = np.random.default_rng(5), 4000, 0.05, 120
    sums = people + np.array([discrete_laplace(generator, 1.0, 10).sum() for _ in range(trials)])
    bought = people + discrete_laplace(generator, 0.25, trials)
    found = [
        GroupSizeEstimate(
            int(total), 10, 1.0, None, int(own) if kind == "noisy" else None, 0.25
        ).limits(level)
        for total, own in zip(sums, bought, strict=True)
    ]
    most = stats.binom.ppf(1 - 1e-7, trials, level)
    assert sum(low > people for low, _ in found) <= most
    assert sum(high < people for _, high in found) <= most
    # Not wasteful: with fewer than half as many misses the limits would be too wide.
    assert sum(low > people or high < people for low, high in found) > 0.5 * 2 * level * trials


def test_two_sources_are_better_than_one() -> None:
    def width(**given: object) -> int:
        low, high = GroupSizeEstimate(200, 16, 1.0, **given).limits(0.01)  # type: ignore[arg-type]
        return high - low

    both = width(noisy=200, noisy_rate=0.25)
    assert both < 0.85 * width()


def test_sources_at_odds_widen_the_limits() -> None:
    low, high = GroupSizeEstimate(100, 10, 1.0, noisy=400, noisy_rate=0.25).limits(0.01)
    assert low < 200
    assert high > 400


def test_people_in_no_bin_are_missed() -> None:
    size = GroupSizeEstimate(total=90, bins=10, rate=1.0, known=300)
    assert 0.6 < size.missing(0.05) < 0.7
    assert GroupSizeEstimate(total=295, bins=10, rate=1.0, known=300).missing(0.05) == 0
    assert GroupSizeEstimate(total=90, bins=10, rate=1.0).missing(0.05) == 0


@pytest.mark.parametrize(
    "size",
    [
        GroupSizeEstimate(total=0, bins=10, rate=1.0),
        GroupSizeEstimate(total=-40, bins=10, rate=1.0),
        GroupSizeEstimate(total=5, bins=10, rate=1.0, known=0),
        GroupSizeEstimate(total=5, bins=10, rate=1.0, known=-3),
        GroupSizeEstimate(total=3, bins=10, rate=1.0, known=300),
        GroupSizeEstimate(total=300, bins=10, rate=1.0, known=100),
        GroupSizeEstimate(total=2, bins=10, rate=1.0, noisy=1, noisy_rate=0.25),
    ],
)
def test_nobody_or_a_contradiction_tells_nothing(size: GroupSizeEstimate) -> None:
    assert size.tells_nothing(0.05)


def test_without_noise_the_sum_is_exact() -> None:
    assert GroupSizeEstimate(total=77, bins=10, rate=math.inf).limits(1e-6) == (77, 77)
