"""One huge weight on one person drowns the noise: what bounds on hidden weights rest on, and why.

The platform cannot see weights. A cheat who gives the target a weight far beyond the declared one
reads the target's bin from the sums, if nobody opens the run. Opened before delivery, the run is
named for what it is, and nothing of it leaves.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from api.app.compose import make_simulated_platform
from api.kernel.errors import ConflictError, NotReleasedError
from api.platforms.interfaces import Platform
from platform_sim import SOFTWARE_JOB, SimulatedPlatform, World
from tests.refusals import refuses
from tests.system.raw import usernames
from tests.two_parties import EDGES, Conversation, auditor_at, integers, weighted
from tests.world import Deployment, deployed, sqlite_url

# 60 scales of the noise at epsilon 1, and still within the room that the terms leave for noise.
HUGE = 60_000
VICTIM = 7
PEOPLE = 20


@pytest.fixture(scope="module")
def platform() -> Platform:
    return make_simulated_platform(people=120, seed=11)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, platform: Platform) -> Iterator[Deployment]:
    with deployed(sqlite_url(tmp_path_factory.mktemp("huge")), platform) as running:
        yield running


@pytest.fixture(scope="module")
def world(platform: Platform) -> World:
    assert isinstance(platform.people, SimulatedPlatform)
    return platform.people.world


def cheating(service: Deployment, world: World, opened_share: str) -> Conversation:
    """Everybody but the victim has no weight at all."""
    auditor = auditor_at(service, opened_share)
    people = weighted(auditor, sorted(usernames(world, PEOPLE)), ["a"] * PEOPLE)
    return Conversation.begin(service, auditor, people, epsilon=1)


def true_bin(platform: Platform, world: World) -> int:
    assert platform.scores is not None
    name = sorted(usernames(world, PEOPLE))[VICTIM]
    person = world.directory.held("username")[0][usernames(world, PEOPLE).index(name)]
    context = {name: values[0] for name, values in platform.scores.context.items()}
    content = SOFTWARE_JOB
    [score] = platform.scores.score(content, np.array([person]), context)
    return int(np.digitize(score, EDGES[1:-1]))


def test_without_an_opening_the_noise_does_not_help(
    service: Deployment, platform: Platform, world: World
) -> None:
    talk = cheating(service, world, "0")
    party = talk.party()
    party._weights = np.where(np.arange(PEOPLE)[:, None] == VICTIM, HUGE, 0)
    assert talk.talk(party) is None
    # Five sums; the noise of one is beyond half of the weight with a probability of e⁻³⁰.
    assert int(np.argmax(integers(party)[0])) == true_bin(platform, world)


def test_an_opening_names_the_cheat_and_nothing_is_delivered(
    service: Deployment, world: World
) -> None:
    talk = cheating(service, world, "1")
    party = talk.party()
    party._weights = np.where(np.arange(PEOPLE)[:, None] == VICTIM, HUGE, 0)
    with pytest.raises(NotReleasedError):
        talk.talk(party)
    found = service.regulator.open_run(talk.audit.id)
    assert {finding.code for finding in found.findings} >= {"weight-out-of-bounds"}
    assert f"row {VICTIM}" in found.findings[0].says
    with refuses(ConflictError, "failed"):
        talk.talk(party)
    assert not party.ended
    assert talk.charges() == 1


def test_honest_weights_have_no_findings(service: Deployment, world: World) -> None:
    talk = cheating(service, world, "1")
    party = talk.party()
    with pytest.raises(NotReleasedError):
        talk.talk(party)
    assert service.regulator.open_run(talk.audit.id).honest
    assert talk.talk(party) is None
