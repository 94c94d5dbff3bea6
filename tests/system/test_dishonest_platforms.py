"""Platforms that lie, behind the real service: each lie is found, and an honest one is not accused.

Levels are .01 for each check; seeds are fixed.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.platforms.interfaces import Platform
from auditor_client import Auditor, ScoreHistogramResult
from auditor_client.audiences.client import NamedAudience
from auditor_client.consistency.canary import FieldCheck, field_check, presence_check
from auditor_client.consistency.model_test import consistency
from platform_sim import SOFTWARE_JOB, Bias, SimulatedPlatform, World
from platform_sim.dishonest import (
    AnswersPerAuditor,
    CachedAnswers,
    CleanModelForAudits,
    DishonestPlatform,
    DriftBetweenAudits,
    SilentRefusal,
)
from platform_sim.people import identifiers
from platform_sim.platform import Persons
from tests.world import Deployment, deployed, sqlite_url

pytestmark = pytest.mark.long

LEVEL = 0.01
AUDIENCE, AUDIENCE_SEED = 2_000, 3
AGAINST_WOMEN = Bias("gender", {"woman": -0.3})
BINS = [0.0, *np.linspace(0.1, 0.95, 18).tolist(), 1.0]
EDITED = SOFTWARE_JOB | {"title": "Software engineer (all genders)"}


@pytest.fixture(scope="module")
def world() -> World:
    return World(17, 12_000, 0.0)


@pytest.fixture(scope="module")
def hidden(world: World) -> SimulatedPlatform:
    """The model by which people are served."""
    return SimulatedPlatform(world, AGAINST_WOMEN)


@contextmanager
def hosted(folder: Path, lying: Any) -> Iterator[Deployment]:
    platform = Platform("lying", people=lying, scores=lying)
    with deployed(sqlite_url(folder), platform) as running:
        yield running


def audited(
    auditor: Auditor, audience: NamedAudience, content: Mapping[str, Any] = SOFTWARE_JOB
) -> ScoreHistogramResult:
    fields = {name: value for name, value in content.items() if value is not None}
    made = auditor.contents.upload(**fields)
    return auditor.audits.run(made, audience, bins=BINS, epsilon=1, new=True, progress=False)


def drawn(world: World, gender: str, seed: int) -> Persons:
    """A gender's people with an address in random order: first the audience, then canaries."""
    holders = world.directory.holders("email")
    group = holders[world.demographics.having("gender", gender)[holders]]
    return np.random.default_rng(seed).permutation(group)


def people_of(world: World, count: int, seed: int) -> pa.Table:
    """Return volunteers who are all on the platform, with this number of each gender."""
    groups = [drawn(world, gender, seed)[:count] for gender in ("man", "woman")]
    persons = np.concatenate(groups)
    emails = identifiers.emails(world.seed, persons, world.surnames[persons])
    gender = pa.array(["man"] * count + ["woman"] * count)
    return pa.table({"email": emails, "gender": gender})


def uploaded(auditor: Auditor, table: pa.Table) -> NamedAudience:
    return auditor.audiences.upload(table, id="email", by="gender", progress=False)


def seen_by_canaries(
    platform: DishonestPlatform, rate: float, count: int, seed: int, *, lying: bool
) -> dict[str, tuple[int, int]]:
    """Count the canaries of each gender who are shown the content, at this overall rate."""
    rng, found = np.random.default_rng(seed), {}
    for gender in ("man", "woman"):
        others = drawn(platform.world, gender, AUDIENCE_SEED)[AUDIENCE:]
        canaries = rng.choice(others, count, replace=False)
        served = platform if lying else DishonestPlatform(platform.clean)
        found[gender] = int(served.delivered(SOFTWARE_JOB, canaries, rate).sum()), count
    return found


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_a_clean_model_for_audits_is_found_in_the_field(
    world: World, hidden: SimulatedPlatform, tmp_path: Path, rate: float
) -> None:
    lying = CleanModelForAudits(hidden)
    with hosted(tmp_path, lying) as service:
        auditor = service.auditor()
        audit = audited(auditor, uploaded(auditor, people_of(world, AUDIENCE, AUDIENCE_SEED)))

    def check(seed: int, *, lies: bool) -> FieldCheck:
        return field_check(audit, seen_by_canaries(lying, rate, 1_000, seed, lying=lies), LEVEL)

    found = check(1, lies=True)
    assert (found.verdict, found.groups) == ("irreconcilable", ("man", "woman"))
    honest = [check(seed, lies=False).verdict for seed in range(2, 6)]
    assert "irreconcilable" not in honest


def test_cached_answers_are_found_by_an_edit_that_cannot_matter(
    world: World, hidden: SimulatedPlatform, tmp_path: Path
) -> None:
    with hosted(tmp_path, CachedAnswers(hidden, [SOFTWARE_JOB])) as service:
        auditor = service.auditor()
        audience = uploaded(auditor, people_of(world, 400, 4))
        announced = audited(auditor, audience)
        again, edited = audited(auditor, audience), audited(auditor, audience, EDITED)
    assert consistency([announced, again], "repeat", LEVEL).verdict == "consistent"
    assert consistency([announced, edited], "edited", LEVEL).verdict == "irreconcilable"


def test_answers_per_auditor_are_found_by_the_same_people(
    world: World, hidden: SimulatedPlatform, tmp_path: Path
) -> None:
    lying = AnswersPerAuditor(hidden, "the first")
    table = people_of(world, 400, 5)
    with hosted(tmp_path, lying) as service:
        found = []
        for name in ("the first", "the second", "the third"):
            lying.asking, auditor = name, service.auditor()
            found.append(audited(auditor, uploaded(auditor, table)))
    flattered, second, third = found
    assert consistency([flattered, second], "same-people", LEVEL).verdict == "irreconcilable"
    assert consistency([second, third], "same-people", LEVEL).verdict == "consistent"


def test_drift_is_found_by_repeats_hidden_among_audits(
    world: World, hidden: SimulatedPlatform, tmp_path: Path
) -> None:
    lying = DriftBetweenAudits(hidden, "gender", {"woman": -0.05})
    with hosted(tmp_path, lying) as service:
        auditor = service.auditor()
        audience = uploaded(auditor, people_of(world, 400, 6))
        first, at_once = audited(auditor, audience), audited(auditor, audience)
        lying.pass_time()
        other = audited(auditor, audience, EDITED)
        lying.pass_time()
        later = audited(auditor, audience)
    assert consistency([first, at_once], "repeat", LEVEL).verdict == "consistent"
    found = consistency([first, later], "repeat", LEVEL)
    assert (found.verdict, found.same_model_stated) == ("irreconcilable", True)
    assert other.release.model_digest == later.release.model_digest


def test_silent_refusal_is_found_by_canaries_in_the_audience(
    world: World, hidden: SimulatedPlatform, tmp_path: Path
) -> None:
    table, known = people_of(world, 400, 7), {"man": 400, "woman": 400}
    verdicts = {}
    for name, platform in (
        ("lying", SilentRefusal(hidden, "gender", "woman", 0.3)),
        ("honest", hidden),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with hosted(folder, platform) as service:
            auditor = service.auditor()
            audit = audited(auditor, uploaded(auditor, table))
        found = presence_check(audit, known, LEVEL)
        verdicts[name] = {one.group: one.verdict for one in found}
    assert verdicts["lying"] == {"man": "consistent", "woman": "irreconcilable"}
    assert verdicts["honest"] == {"man": "consistent", "woman": "consistent"}
