import numpy as np
import pytest

from platform_sim import SimulatedPlatform
from platform_sim.samples import list_declared_people


def test_offers_are_round_and_well_below_the_real_number(fair: SimulatedPlatform) -> None:
    for attribute, figures in fair.offers().items():
        for value, figure in figures.items():
            assert 0 < figure <= len(list_declared_people(fair.world, attribute, value)) / 2
            assert set(str(figure)[1:]) == {"0"}


def test_values_of_an_attribute_are_disjoint(fair: SimulatedPlatform) -> None:
    for attribute, figures in fair.offers().items():
        people = np.concatenate(
            [list_declared_people(fair.world, attribute, value) for value in figures]
        )
        assert len(np.unique(people)) == len(people)


def test_samples_are_exact_distinct_and_of_the_value(fair: SimulatedPlatform) -> None:
    sizes = {"woman": 700, "man": 500}
    drawn = fair.sample("gender", sizes, np.random.default_rng(1))
    for value, size in sizes.items():
        assert len(np.unique(drawn[value])) == size
        assert fair.world.demographics.having("gender", value)[drawn[value]].all()


def test_samples_of_the_qualified_are_qualified(fair: SimulatedPlatform) -> None:
    drawn = fair.sample("gender_software", {"woman": 300}, np.random.default_rng(1))["woman"]
    assert fair.world.qualified("software")[drawn].all()
    assert fair.world.demographics.having("gender", "woman")[drawn].all()


def test_everybody_who_declared_is_as_likely_to_be_drawn(fair: SimulatedPlatform) -> None:
    rng = np.random.default_rng(1)
    pool = list_declared_people(fair.world, "gender", "nonbinary")
    draws, size = 4_000, len(pool) // 2
    times = np.zeros(fair.world.people)
    for _ in range(draws):
        times[fair.sample("gender", {"nonbinary": size}, rng)["nonbinary"]] += 1
    # Each share is a mean of 4,000 coins: Hoeffding, over some 300 people, gives
    # 600 exp(-2·4000·.06²) = 2e-10.
    assert np.abs(times[pool] / draws - size / len(pool)).max() < 0.06
    assert times.sum() == draws * size


def test_nobody_has_too_many_people_to_give(fair: SimulatedPlatform) -> None:
    with pytest.raises(ValueError, match="larger sample"):
        fair.sample("gender", {"woman": fair.world.people}, np.random.default_rng(1))
