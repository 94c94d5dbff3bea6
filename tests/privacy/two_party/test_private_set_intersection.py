"""Private set intersection: known answers, commuting keys, and points that are none."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha512
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rbcl

from privacy.two_party.errors import EqualPointsError, PointError, SpentError
from privacy.two_party.joins import NOBODY, CandidatePeople, keep_first_rows
from privacy.two_party.private_set_intersection import (
    POINT,
    Blinding,
    DistinctPoints,
    distinct_tokens,
    split_items,
)

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "two_party" / "points.json").read_text()
)
RUN = bytes.fromhex(VECTORS["run"])


def test_hashing_to_points_is_that_of_the_standard() -> None:
    for text, point in VECTORS["from_text"].items():
        digest = sha512(text.encode()).digest()
        assert rbcl.crypto_core_ristretto255_from_hash(digest).hex() == point


def test_a_token_is_hashed_with_the_run() -> None:
    blinding, token = Blinding(), bytes.fromhex(VECTORS["token"])
    point = rbcl.crypto_core_ristretto255_from_hash(bytes.fromhex(VECTORS["hash"]))
    assert blinding.of_tokens(RUN, token) == blinding.of_points(point)


def test_two_keys_commute_and_two_runs_do_not_compare() -> None:
    one, other = Blinding(), Blinding()
    tokens = bytes(range(64))
    both = other.of_points(one.of_tokens(RUN, tokens))
    assert both == one.of_points(other.of_tokens(RUN, tokens))
    assert len(set(split_items(both))) == 2
    elsewhere = one.of_tokens(bytes(32), tokens)
    assert other.of_points(elsewhere) != both


@pytest.mark.parametrize("bad", VECTORS["bad"])
def test_what_is_no_point_is_refused(bad: str) -> None:
    good = bytes.fromhex(VECTORS["generator"])
    with pytest.raises(PointError):
        Blinding().of_points(good + bytes.fromhex(bad) + good)


def test_more_workers_make_the_same_points() -> None:
    tokens = bytes(range(256)) * 300  # 2,400 tokens, in three slices
    alone = Blinding()
    with ThreadPoolExecutor(2) as pool:
        together = Blinding(pool.map)
        both = alone.of_points(together.of_tokens(RUN, tokens))
        assert both == together.of_points(alone.of_tokens(RUN, tokens))
    assert len(both) == POINT * 2_400


def test_a_key_is_dropped_for_good_and_never_written_down() -> None:
    blinding = Blinding()
    with pytest.raises(TypeError):
        pickle.dumps(blinding)
    blinding.drop()
    with pytest.raises(SpentError):
        blinding.of_tokens(RUN, bytes(32))


def test_a_person_counts_in_their_first_row_only() -> None:
    persons = np.array([7, NOBODY, 3, 7, 3, NOBODY, 0, -5])
    assert keep_first_rows(persons).tolist() == [7, -1, 3, -1, -1, -1, 0, -1]


def test_candidates_are_padded_and_shuffled_and_keep_their_persons() -> None:
    tokens = [bytes([i]) * 32 for i in range(200)]
    padded = CandidatePeople(b"".join(tokens), np.arange(200)).shuffled(300)
    assert len(padded.persons) == 300
    kept = [
        (t, p) for t, p in zip(split_items(padded.tokens), padded.persons, strict=True) if p >= 0
    ]
    assert sorted(kept) == [(token, i) for i, token in enumerate(tokens)]
    assert [p for _, p in kept] != list(range(200))  # in order by chance: 1 / 200!


def test_of_too_many_a_random_part_has_places_and_the_same_lot_draws_the_same() -> None:
    persons = np.arange(50)
    tokens = b"".join(bytes([i]) * 32 for i in range(50))
    shares = np.zeros(50)
    for _ in range(400):
        everybody = CandidatePeople(tokens, persons)
        kept, again = everybody.shuffled(20), everybody.shuffled(20)
        assert sorted(kept.persons) == sorted(again.persons)
        assert len(set(kept.persons.tolist())) == 20
        assert all(
            t == bytes([p]) * 32
            for t, p in zip(split_items(kept.tokens), kept.persons, strict=True)
        )
        shares[kept.persons] += 1 / 400
    # Binomial(400, .4) / 400 has a standard deviation of .0245: 6.5 of them, with 50 people.
    assert np.abs(shares - 0.4).max() < 0.16
    assert (everybody.beyond(20), everybody.beyond(50)) == (30, 0)


def test_two_people_who_share_a_token_have_one_place() -> None:
    """Two equal points would show the auditor that they share it."""
    tokens = b"".join(bytes([i // 2]) * 32 for i in range(40))
    firsts = []
    for _ in range(60):
        everybody = CandidatePeople(tokens, np.arange(40))
        kept = everybody.shuffled(30)
        assert len(set(split_items(kept.tokens))) == 30
        people = sorted(int(p) for p in kept.persons if p >= 0)
        assert [p // 2 for p in people] == list(range(20))
        assert everybody.beyond(30) == 20
        firsts.append(people)
    # One of two by a fresh lot: the same twenty in two runs have probability 2^-20, 1e-354 in all.
    assert len(set(map(tuple, firsts))) > 1


def test_places_are_shuffled_anew_in_every_run_of_one_charge() -> None:
    """The lot is the same in all of them: it draws who has places, and never the order."""
    places, runs = 8, 600
    everybody = CandidatePeople(bytes(range(160)), np.arange(5), draw_key=bytes(32))
    counts = np.zeros((5, places))
    for _ in range(runs):
        for place, person in enumerate(everybody.shuffled(places).persons):
            counts[person, place] += person >= 0
    # Binomial(600, 1/8) has mean 75 and SD 8.1. By Bernstein, any of 80 tails beyond 57: 4e-7.
    assert np.abs(counts - runs / places).max() < 57


def test_repeated_tokens_become_random_ones() -> None:
    tokens = bytes(32) + bytes([1]) * 32 + bytes(32) + bytes([1]) * 32
    kept = split_items(distinct_tokens(tokens))
    assert b"".join(kept[:2]) == tokens[:64]
    assert len(set(kept)) == 4
    assert distinct_tokens(tokens) != b"".join(kept)


def test_points_may_not_repeat_in_one_message_or_over_several() -> None:
    taken, one, two, three = DistinctPoints(), bytes(32), b"\1" * 32, b"\2" * 32
    taken.take(one + two)
    for again in (three + three, three + two):
        with pytest.raises(EqualPointsError):
            taken.take(again)
    taken.take(three)  # what was refused left nothing behind


def test_a_person_has_one_place_however_many_identifiers() -> None:
    tokens = b"".join(bytes([i]) * 32 for i in range(6))
    kept = CandidatePeople(tokens, np.array([9, 9, 9, 4, 4, 4])).shuffled(2)
    assert sorted(kept.persons) == [4, 9]
    assert {t[0] for t in split_items(kept.tokens)} == {0, 3}
