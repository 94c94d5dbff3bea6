"""A million people in seconds. Limits are several times what one core of 2024 needs."""

from time import perf_counter, process_time

import numpy as np
import pytest

from platform_sim import SOFTWARE_JOB, Opportunities, SimulatedPlatform, World
from platform_sim.people import identifiers

MILLION = 1_000_000


@pytest.mark.full
def test_a_million_people_are_made_matched_and_scored_in_seconds() -> None:
    started = perf_counter()
    platform = SimulatedPlatform.from_seed(1, MILLION)
    world = platform.world
    everybody = np.arange(MILLION)
    digests = identifiers.sha256_each(identifiers.emails(1, everybody, world.surnames))
    platform.match("email_sha256", digests.slice(0, 1))
    assert perf_counter() - started < 20
    started = perf_counter()
    found = platform.match("email_sha256", digests)
    assert perf_counter() - started < 3
    assert np.array_equal(found[found >= 0], world.directory.holders("email"))
    started = perf_counter()
    platform.score(SOFTWARE_JOB, everybody, {"hour": 12.0, "device": "phone"})
    assert perf_counter() - started < 2


@pytest.mark.full
@pytest.mark.parametrize("name", ["instajob", "pymk"])
def test_a_million_opportunities_are_made_in_seconds(name: str) -> None:
    opportunities = Opportunities(World(1, 100_000), rows=MILLION)
    started = process_time()
    assert len(opportunities.log(name).table) == pytest.approx(MILLION, rel=0.01)
    assert process_time() - started < 25
    started = process_time()
    rows = sum(len(batch) for batch in opportunities.read(name, np.arange(100_000), ["score"]))
    assert rows == len(opportunities.log(name).table)
    assert process_time() - started < 3
