import numpy as np
import pytest

from platform_sim import SOFTWARE_JOB, SimulatedPlatform, fair_platform, true_gap


def _gap(platform: SimulatedPlatform, bins: int) -> float:
    able = platform.world.qualified("software")
    edges = np.linspace(0, 1, bins + 1)
    return true_gap(platform, SOFTWARE_JOB, "gender", ("woman", "man"), edges, able)


@pytest.mark.parametrize("bins", [10, 20, 100])
def test_verdicts_of_the_demo_platforms_are_clear(
    fair: SimulatedPlatform, biased: SimulatedPlatform, bins: int
) -> None:
    assert _gap(fair, bins) <= 0.05
    assert _gap(biased, bins) >= 0.45


def test_what_the_model_learned_from_correlated_people_is_not_quite_fair(
    fair: SimulatedPlatform, ordinary: SimulatedPlatform
) -> None:
    assert _gap(ordinary, 10) > _gap(fair, 10) + 0.05


@pytest.mark.parametrize("seed", [2, 3])
def test_other_seeds_are_as_fair(seed: int) -> None:
    assert _gap(fair_platform(seed=seed), 20) <= 0.05
