"""One person more in a directory changes at most two rows of a hidden audience, as the price says.

Every small directory is compared with every neighbour: up to three people before, any of three
identifiers each, shared or not, and more people than places. Rows have weight one, and everybody's
value is a cell of their own: a row that turns from one person to another moves the sums by two.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.app.compose import make_simulated_platform
from api.audiences.parsing import tokens
from api.kernel.settings import Settings
from api.platforms.interfaces import Persons, Platform
from api.two_party.candidates import load_candidates
from privacy.two_party import CandidatePeople, Entries, RunTerms, joins
from tests.world import make_settings

NAMES = ("ann", "bea", "cy")
PEOPLE = 4
# Who is listed under which name; nobody has more than one.
World = tuple[tuple[int, str], ...]


class Listed:
    """A directory of these people, in this order."""

    def __init__(self, world: World) -> None:
        self.world = world

    def held(self, kind: str) -> tuple[Persons, pa.Array]:
        persons = np.array([person for person, _ in self.world], np.int64)
        return persons, pa.array([name for _, name in self.world], pa.string())


@pytest.fixture(scope="module")
def platform() -> Platform:
    return make_simulated_platform(people=120, seed=3)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return make_settings("sqlite://", "http://127.0.0.1:9")


def worlds() -> list[tuple[World, World]]:
    """All worlds with somebody more, and without them."""
    found = []
    for names in product((None, *NAMES), repeat=PEOPLE):
        there = tuple((number, name) for number, name in enumerate(names) if name is not None)
        found += [(there, tuple(each for each in there if each != one)) for one in there]
    return found


def rows_of(everybody: CandidatePeople, size: int) -> dict[str, int]:
    """Return the person whom each name's row finds, with this number of places."""
    placed = everybody.shuffled(size)
    named = {tokens("username", pa.array([name])): name for name in NAMES}
    places = [placed.tokens[at : at + 32] for at in range(0, len(placed.tokens), 32)]
    found = zip(places, placed.persons.tolist(), strict=True)
    return {named[token]: person for token, person in found if token in named}


def moved(one: dict[str, int], other: dict[str, int]) -> int:
    """The L1 distance of the sums."""
    differing = [name for name in NAMES if one.get(name) != other.get(name)]
    return sum((name in one) + (name in other) for name in differing)


def terms(size: int) -> RunTerms:
    one = Entries(0, 1, 1)
    return RunTerms("a", len(NAMES), 1, PEOPLE, weights=one, values=one, noise=0, candidates=size)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_one_person_more_moves_no_more_than_the_price_says(
    platform: Platform, settings: Settings, size: int
) -> None:
    most = 0
    for audit, (world, without) in product(("a", "b", "c"), worlds()):  # each has another draw key
        one, other = (
            rows_of(load_candidates(_of(platform, each), "username", size, audit, settings), size)
            for each in (world, without)
        )
        most = max(most, moved(one, other))
    assert most == terms(size).bounds.added.l1 == 2


def test_a_shared_identifier_would_move_more_without_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: somebody takes over one row, and puts another person out of a second."""

    def one_place_for_each_person(self: CandidatePeople, size: int) -> Any:
        people, first = np.unique(self.persons, return_index=True)
        return first[joins._order_by_draw(self.draw_key, people)][:size]

    monkeypatch.setattr(CandidatePeople, "_placed", one_place_for_each_person)
    most = 0
    for number in range(40):
        secret = bytes([number]) * 32
        for world, without in worlds():
            one, other = (rows_of(_with_draw_key(each, secret), 2) for each in (world, without))
            most = max(most, moved(one, other))
    assert most == 3 > terms(2).bounds.added.l1


def _with_draw_key(world: World, draw_key: bytes) -> CandidatePeople:
    persons, names = Listed(world).held("username")
    return CandidatePeople(tokens("username", names), persons, draw_key)


def _of(platform: Platform, world: World) -> Platform:
    return replace(platform, directory=Listed(world))
