"""Places for parts: no auditor holds all of them, and those who hold few are served first."""

import pytest

from api.audiences.places import MatchingPlaces, Ticket

PARTS, BYTES = 8, 800


@pytest.fixture
def places() -> MatchingPlaces:
    return MatchingPlaces(PARTS, BYTES)


def taken(places: MatchingPlaces, auditor: str, parts: int, size: int = 1) -> list[Ticket]:
    """Ask for this number of places; return the tickets that got one, and withdraw the others."""
    asked = [places.wait_for(auditor, size) for _ in range(parts)]
    held = [ticket for ticket in asked if places.take(ticket)]
    for ticket in asked:
        if ticket not in held:
            places.leave(ticket)
    return held


def test_one_auditor_alone_leaves_a_place_for_another(places: MatchingPlaces) -> None:
    assert len(taken(places, "a", PARTS)) == PARTS - 1
    assert len(taken(places, "b", 1)) == 1
    assert not taken(places, "b", 1)


def test_waiting_auditors_lower_the_share_of_the_others(places: MatchingPlaces) -> None:
    for auditor in "bcd":
        places.wait_for(auditor, 1)
    assert len(taken(places, "a", PARTS)) == 0  # the others hold fewer, or came first
    assert len(taken(MatchingPlaces(PARTS, BYTES), "a", PARTS)) == PARTS - 1


def test_every_auditor_gets_a_place_where_there_are_enough(places: MatchingPlaces) -> None:
    tickets = {auditor: places.wait_for(auditor, 1) for auditor in "abcdefgh"}
    assert all(places.take(ticket) for ticket in tickets.values())
    late = places.wait_for("i", 1)
    assert not places.take(late)
    again = places.wait_for("a", 1)
    places.leave(tickets["b"])
    assert not places.take(again)  # "a" holds a place, "i" none
    assert places.take(late)


def test_auditors_with_equal_places_are_served_in_arrival_order(
    places: MatchingPlaces,
) -> None:
    held = [*taken(places, "a", PARTS - 1), *taken(places, "b", 1)]
    first, second = places.wait_for("c", 1), places.wait_for("d", 1)
    assert not places.take(first)
    places.leave(held[0])
    assert not places.take(second)
    assert places.take(first)
    places.leave(held[1])
    assert places.take(second)


def test_bytes_are_shared_like_places(places: MatchingPlaces) -> None:
    half = BYTES // 2
    held = taken(places, "a", 1, half)
    assert len(held) == 1
    assert not taken(places, "a", 1, half)
    assert len(taken(places, "b", 1, half)) == 1
    assert not taken(places, "c", 1, 1)


def test_a_part_larger_than_all_bytes_is_taken_alone(places: MatchingPlaces) -> None:
    [large] = taken(places, "a", 1, BYTES + 1)
    assert not taken(places, "b", 1)
    places.leave(large)
    assert taken(places, "b", 1)


def test_one_slot_is_used_by_one_call_at_a_time() -> None:
    places = MatchingPlaces(1, BYTES)
    [held] = taken(places, "a", 3)
    waiting, again = places.wait_for("b", 1), places.wait_for("a", 1)
    places.leave(held)
    assert not places.take(again)
    assert places.take(waiting)


def test_draining_waits_for_places_that_are_held_and_for_no_longer(places: MatchingPlaces) -> None:
    [held] = taken(places, "a", 1)
    places.drain(0.001)
    places.wait_for("b", 1)
    places.leave(held)
    places.drain(60)
