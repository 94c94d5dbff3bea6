"""Places for parts: no auditor holds all of them, and those who hold few are served first."""

import pytest

from api.audiences.matching_slots import MatchingSlots, Ticket

PARTS, BYTES = 8, 800


@pytest.fixture
def slots() -> MatchingSlots:
    return MatchingSlots(PARTS, BYTES)


def taken(slots: MatchingSlots, auditor: str, parts: int, size: int = 1) -> list[Ticket]:
    """Ask for this number of slots; return the tickets that got one, and withdraw the others."""
    asked = [slots.wait_for(auditor, size) for _ in range(parts)]
    held = [ticket for ticket in asked if slots.take(ticket)]
    for ticket in asked:
        if ticket not in held:
            slots.leave(ticket)
    return held


def test_one_auditor_alone_leaves_a_slot_for_another(slots: MatchingSlots) -> None:
    assert len(taken(slots, "a", PARTS)) == PARTS - 1
    assert len(taken(slots, "b", 1)) == 1
    assert not taken(slots, "b", 1)


def test_waiting_auditors_lower_the_share_of_the_others(slots: MatchingSlots) -> None:
    for auditor in "bcd":
        slots.wait_for(auditor, 1)
    assert len(taken(slots, "a", PARTS)) == 0  # the others hold fewer, or came first
    assert len(taken(MatchingSlots(PARTS, BYTES), "a", PARTS)) == PARTS - 1


def test_every_auditor_gets_a_slot_where_there_are_enough(slots: MatchingSlots) -> None:
    tickets = {auditor: slots.wait_for(auditor, 1) for auditor in "abcdefgh"}
    assert all(slots.take(ticket) for ticket in tickets.values())
    late = slots.wait_for("i", 1)
    assert not slots.take(late)
    again = slots.wait_for("a", 1)
    slots.leave(tickets["b"])
    assert not slots.take(again)  # "a" holds a slot, "i" none
    assert slots.take(late)


def test_auditors_with_equal_slots_are_served_in_arrival_order(
    slots: MatchingSlots,
) -> None:
    held = [*taken(slots, "a", PARTS - 1), *taken(slots, "b", 1)]
    first, second = slots.wait_for("c", 1), slots.wait_for("d", 1)
    assert not slots.take(first)
    slots.leave(held[0])
    assert not slots.take(second)
    assert slots.take(first)
    slots.leave(held[1])
    assert slots.take(second)


def test_bytes_are_shared_like_slots(slots: MatchingSlots) -> None:
    half = BYTES // 2
    held = taken(slots, "a", 1, half)
    assert len(held) == 1
    assert not taken(slots, "a", 1, half)
    assert len(taken(slots, "b", 1, half)) == 1
    assert not taken(slots, "c", 1, 1)


def test_a_part_larger_than_all_bytes_is_taken_alone(slots: MatchingSlots) -> None:
    [large] = taken(slots, "a", 1, BYTES + 1)
    assert not taken(slots, "b", 1)
    slots.leave(large)
    assert taken(slots, "b", 1)


def test_one_slot_is_used_by_one_call_at_a_time() -> None:
    slots = MatchingSlots(1, BYTES)
    [held] = taken(slots, "a", 3)
    waiting, again = slots.wait_for("b", 1), slots.wait_for("a", 1)
    slots.leave(held)
    assert not slots.take(again)
    assert slots.take(waiting)


def test_draining_waits_for_slots_that_are_held_and_for_no_longer(slots: MatchingSlots) -> None:
    [held] = taken(slots, "a", 1)
    slots.drain(0.001)
    slots.wait_for("b", 1)
    slots.leave(held)
    slots.drain(60)
