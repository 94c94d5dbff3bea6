"""The platform's side of an intersection: public size, secret order, one place each (R2, R4)."""

import os

import numpy as np

from privacy.two_party.joins import NOBODY, CandidatePeople, keep_first_rows
from privacy.two_party.private_set_intersection import TOKEN

PEOPLE = 64


def of_people(people: int, draw_key: bytes | None = None) -> CandidatePeople:
    tokens = b"".join(number.to_bytes(TOKEN, "little") for number in range(people))
    persons = np.arange(people) * 3
    return CandidatePeople(tokens, persons, draw_key or os.urandom(32))


def pairs(candidates: CandidatePeople) -> dict[int, bytes]:
    places = enumerate(candidates.persons.tolist())
    return {
        person: candidates.tokens[TOKEN * place : TOKEN * (place + 1)]
        for place, person in places
        if person != NOBODY
    }


def test_the_order_is_drawn_anew_each_time_and_tells_nothing_of_the_directory() -> None:
    """One order of 64 people in 64! is the same by chance: below 1e-80."""
    everybody = of_people(PEOPLE)
    orders = [everybody.shuffled(PEOPLE).persons.tolist() for _ in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    assert everybody.persons.tolist() not in orders
    for order in orders:
        assert sorted(order) == everybody.persons.tolist()


def test_padding_is_anywhere_among_the_people() -> None:
    """32 random tokens are all in the last places, or the first, once in C(64, 32): 5e-19."""
    found = of_people(32).shuffled(PEOPLE).persons
    assert (found == NOBODY).sum() == 32
    assert not (found[32:] == NOBODY).all()
    assert not (found[:32] == NOBODY).all()


def test_a_token_stays_with_its_person() -> None:
    everybody = of_people(PEOPLE)
    before = pairs(everybody)
    for size in (10, PEOPLE, 100):
        after = pairs(everybody.shuffled(size))
        assert len(after) == min(size, PEOPLE)
        assert all(before[person] == token for person, token in after.items())


def test_padding_is_never_the_same_token_twice() -> None:
    tokens = of_people(0).shuffled(40).tokens
    assert len({tokens[start : start + TOKEN] for start in range(0, len(tokens), TOKEN)}) == 40
    assert tokens != of_people(0).shuffled(40).tokens


def test_who_has_a_place_follows_from_the_lot_and_each_ones_own_number() -> None:
    """A new person displaces at most one other; another seed draws other people."""
    draw_key = os.urandom(32)
    few, more = of_people(PEOPLE, draw_key), of_people(PEOPLE + 1, draw_key)
    before, after = (set(pairs(each.shuffled(20))) for each in (few, more))
    assert len(before - after) <= 1
    assert before == set(pairs(few.shuffled(20)))
    # The same 20 of 64 by another draw key: once in C(64, 20), 5e-17.
    assert before != set(pairs(of_people(PEOPLE).shuffled(20)))


def test_somebody_with_two_tokens_has_one_place() -> None:
    persons = np.array([5, 7, 5, 5, 9])
    tokens = b"".join(bytes([number]) * TOKEN for number in range(5))
    found = CandidatePeople(tokens, persons).shuffled(5)
    assert sorted(found.persons.tolist()) == [NOBODY, NOBODY, 5, 7, 9]
    assert pairs(found)[5] == bytes([0]) * TOKEN
    assert CandidatePeople(tokens, persons).beyond(2) == 1
    assert CandidatePeople(tokens, persons).beyond(3) == 0


def test_a_person_counts_in_the_first_row_that_is_theirs_and_nobody_in_none() -> None:
    assert keep_first_rows(np.array([4, NOBODY, 4, 2, NOBODY, 2, 4])).tolist() == [
        4,
        -1,
        -1,
        2,
        -1,
        -1,
        -1,
    ]
    assert keep_first_rows(np.array([-7, 3])).tolist() == [-1, 3]
