import re
from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import pytest

from api.platforms.interfaces import NOBODY, People, Scores
from platform_sim import SOFTWARE_JOB, Bias, SimulatedPlatform, World
from platform_sim.people import directory as directory_module
from platform_sim.people.demographics import Demographics


def test_it_has_the_capabilities_that_the_service_asks_for(fair: SimulatedPlatform) -> None:
    people: People = fair
    scores: Scores = fair
    assert people.offers()
    assert scores.context
    assert directory_module.NOBODY == NOBODY


def test_model_never_sees_demographics(noon: Mapping[str, str | float]) -> None:
    """Give everybody somebody else's groups: history, model and scores stay as they were."""
    world, shuffled = World(4, people=2_000), World(4, people=2_000)
    assert shuffled.seen is not None
    assert shuffled.surnames is not None
    order = np.random.default_rng(1).permutation(world.people)
    who = [getattr(world.demographics, field.name)[order] for field in fields(Demographics)]
    vars(shuffled)["demographics"] = Demographics(*who)
    one, other = SimulatedPlatform(world), SimulatedPlatform(shuffled)
    everybody = np.arange(world.people)
    assert one.model_digest == other.model_digest
    assert np.array_equal(
        one.score(SOFTWARE_JOB, everybody, noon), other.score(SOFTWARE_JOB, everybody, noon)
    )


def test_model_digest_changes_when_the_model_does(
    fair: SimulatedPlatform, biased: SimulatedPlatform, ordinary: SimulatedPlatform
) -> None:
    platforms = [
        *(fair, biased, ordinary),
        SimulatedPlatform(fair.world, Bias("gender", {"woman": -0.1})),
        SimulatedPlatform(fair.world, Bias("gender", {"woman": -0.1}, "random")),
    ]
    digests = {platform.model_digest for platform in platforms}
    assert len(digests) == len(platforms)
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests)
    assert SimulatedPlatform(fair.world).model_digest == fair.model_digest


def test_four_in_five_confirm_and_every_process_agrees_who(fair: SimulatedPlatform) -> None:
    confirmed = fair.confirmed("study-1")
    # Hoeffding: 2 exp(-2·20000·.02²) = 2e-7.
    assert abs(len(confirmed) / fair.world.people - 0.8) < 0.02
    assert (np.diff(confirmed) > 0).all()
    again = SimulatedPlatform.from_seed(1, correlation=0.0)
    assert np.array_equal(again.confirmed("study-1"), confirmed)
    assert not np.array_equal(again.confirmed("study-2"), confirmed)


def test_people_who_were_not_matched_are_not_scored(
    fair: SimulatedPlatform, noon: Mapping[str, str | float]
) -> None:
    with pytest.raises(ValueError, match=r"\b0\b"):
        fair.score(SOFTWARE_JOB, np.array([3, NOBODY]), noon)


def test_score_range_is_public(fair: SimulatedPlatform) -> None:
    assert fair.score_range == (0.0, 1.0)
