import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from platform_sim import SimulatedPlatform, World
from platform_sim.people.demographics import ATTRIBUTES
from platform_sim.people.occupations import OCCUPATIONS
from platform_sim.people.places import PLACES
from platform_sim.people.surnames import SURNAMES


def fingerprint(seed: int) -> str:
    """A digest of everything in a small world, and of the model learned in it."""
    platform = SimulatedPlatform.from_seed(seed, people=3_000)
    world = platform.world
    parts: list[NDArray[np.generic]] = [
        *(world.demographics.codes(attribute) for attribute in ATTRIBUTES),
        *(world.surnames, world.homes.place, world.homes.neighbourhood),
        *(world.work.occupation, world.work.years, world.interests.tastes, world.seen),
        *(world.history.viewers, world.history.hours, world.history.clicked),
    ]
    digest = hashlib.sha256(repr(world.catalogue).encode())
    for part in parts:
        digest.update(part.tobytes())
    return digest.hexdigest() + platform.model_digest


def test_same_seed_same_world_in_another_process_with_other_threads() -> None:
    code = "import test_world; print(test_world.fingerprint(7))"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "5"}
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=os.path.dirname(__file__),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == fingerprint(7)


def test_another_seed_is_another_world() -> None:
    assert fingerprint(7) != fingerprint(8)


def test_women_and_men_are_qualified_in_different_numbers_in_a_fair_world_too(
    fair: SimulatedPlatform,
) -> None:
    who, qualified = fair.world.demographics, fair.world.qualified("software")
    women = qualified[who.having("gender", "woman")].mean()
    men = qualified[who.having("gender", "man")].mean()
    # The standard error of the difference is .006: .05 of the true .095 is over six away.
    assert men - women > 0.05


def _shift(platform: SimulatedPlatform) -> float:
    """Return the largest difference of means between qualified women and men in the model's
    inputs.
    """
    world = platform.world
    able = world.qualified("software")
    women = world.seen[able & world.demographics.having("gender", "woman")]
    men = world.seen[able & world.demographics.having("gender", "man")]
    return float(np.abs(women.mean(axis=0) - men.mean(axis=0)).max())


def test_groups_show_in_what_the_model_sees(ordinary: SimulatedPlatform) -> None:
    # The true shift in technology is .7; its standard error is .04.
    assert _shift(ordinary) > 0.4


def test_qualified_groups_look_alike_without_correlation(fair: SimulatedPlatform) -> None:
    # 21 columns with standard errors up to .05 (political interests): .3 is six of them.
    assert _shift(fair) < 0.3


def test_surname_and_zip_tell_about_race(fair: SimulatedPlatform) -> None:
    world = fair.world
    hispanic = world.demographics.having("race", "hispanic")
    garcia = world.surnames == SURNAMES.index("garcia")
    zips = [place.zip_code for place in PLACES]
    san_antonio = world.homes.place == zips.index("78207")
    assert hispanic[garcia].mean() > 0.9
    assert hispanic[san_antonio].mean() > 0.6
    assert hispanic.mean() < 0.25


def test_people_are_qualified_for_at_most_the_one_trade_they_have_experience_in() -> None:
    world = World(seed=2, people=5_000)
    qualified = np.stack([world.qualified(occupation) for occupation in OCCUPATIONS])
    assert qualified.sum(axis=0).max() == 1
    assert 0.05 < 1 - qualified.any(axis=0).mean() < 0.4
    with pytest.raises(ValueError, match=r"'piracy'.*\bsoftware\b"):
        world.qualified("piracy")


def test_impossible_worlds_are_refused() -> None:
    for people, correlation, named in (
        (0, 1.0, "people"),
        (6_000_000, 1.0, "people"),
        (10, 1.5, "correlation"),
    ):
        with pytest.raises(ValueError, match=named):
            World(1, people, correlation)


def test_a_handful_of_people_is_a_world() -> None:
    platform = SimulatedPlatform.from_seed(1, people=3)
    assert len(platform.world.seen) == 3
