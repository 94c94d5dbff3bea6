"""People who have borne enough are left out, and nobody can see that they are."""

from typing import Any

import pytest

from api.accounting import lifetime_caps as persons
from api.kernel.errors import BudgetExhaustedError
from platform_sim import World
from tests.attacks.outside import HISTOGRAM, look, release_of
from tests.system.adapters import Watched
from tests.system.raw import raw, request_for, usernames
from tests.world import Deployment


@pytest.fixture(scope="module")
def names(target: Deployment, world: World) -> tuple[list[str], list[str]]:
    """People who have borne all they may but a little, and people who have borne nothing."""
    fresh, tired = usernames(world, 300)[260:280], usernames(world, 300)[280:]
    me = raw(target, target.auditor())
    asked = {"kind": HISTOGRAM, "epsilon": "1", "size_epsilon": "0"}
    body = request_for(me.content(), me.audience({"g0": tired}), **asked)
    for _ in range(5):
        release_of(target, me, body)
    return fresh, tired


def visible(target: Deployment, people: list[str]) -> list[Any]:
    return list(look(target, people))


def test_the_exhausted_are_not_scored_and_look_like_everybody(
    target: Deployment, watched: Watched, names: tuple[list[str], list[str]]
) -> None:
    watched.seen.clear()
    fresh = visible(target, names[0])
    assert sum(len(persons) for persons in watched.seen) == 20
    watched.seen.clear()
    tired = visible(target, names[1])
    assert sum(len(persons) for persons in watched.seen) == 0
    # User names have the same lengths; all else that differs is noise.
    assert fresh == tired


def test_a_service_that_refuses_their_audits_would_tell(
    target: Deployment, names: tuple[list[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = persons.charge

    def honest(*arguments: Any, **named: Any) -> Any:
        able = original(*arguments, **named)
        if any(mask is not None for masks in able for mask in masks):
            raise BudgetExhaustedError("somebody in this audience has borne enough")
        return able

    monkeypatch.setattr(persons, "charge", honest)
    fresh, tired = (visible(target, people) for people in names)
    assert fresh != tired
