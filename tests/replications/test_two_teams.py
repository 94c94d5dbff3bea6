"""The paper's own setting: exact sums, and what it tells the tester."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party import Entries, errors
from privacy.two_party.private_set_intersection import split_items
from privacy.two_party.residues import MODULI
from replications.paper_5 import two_teams
from replications.paper_5.two_teams import (
    ClientParty,
    ClientRows,
    LibraryTerms,
    Places,
    plaintext_sums,
)
from replications.paper_5.two_teams.shares import summed
from tests.privacy.two_party.runs import token
from tests.refusals import refuses

Array = NDArray[np.int64]
NAMES = [f"member {i}" for i in range(30)]


class Study:
    """Both tables: a tester of some members, and a client's rows about some others."""

    def __init__(self, known: list[str], people: list[str], seed: int = 0, **changes: Any) -> None:
        rng = np.random.default_rng(seed)
        usual: dict[str, Any] = {
            "study": "lot",
            "members": len(known),
            "people": len(people),
            "rows": 40,
            "groups": 2,
            "tuples": ((0, 1), (1, 0)),
            "columns": 2,
            "cells": 4,
            "weights": Entries(0, 1_000, 1_000),
            "values": Entries(-(2**20), 2**20, 2**21),
            "least_rows": 1,
        }
        self.terms = LibraryTerms(**(usual | changes))
        self.known, self.people = known, people
        size = (len(known), self.terms.groups)
        self.weights = rng.integers(0, self.terms.weights.high, size, endpoint=True)
        members = rng.integers(0, len(people), (40, self.terms.arity))
        places = Places(members, np.repeat(np.arange(4), 10))
        most = self.terms.values.high
        differences = rng.integers(-most, most, 40, endpoint=True)
        self.rows = ClientRows(places, np.column_stack([differences, np.ones(40, np.int64)]))

    def tester(self) -> two_teams.TesterParty:
        return two_teams.TesterParty(self.terms, b"".join(map(token, self.known)), self.weights)

    def client(self) -> ClientParty:
        return ClientParty(self.terms, b"".join(map(token, self.people)), self.rows)

    def run(self) -> NDArray[np.object_]:
        tester, client = self.tester(), self.client()
        _play(tester, client)
        assert tester.transcript == client.transcript
        return (client if self.terms.learner == "client" else tester).sums

    def expected(self) -> NDArray[np.object_]:
        weights = dict(zip(map(token, self.known), self.weights, strict=True))
        return plaintext_sums(self.terms, weights, list(map(token, self.people)), self.rows)


@pytest.mark.parametrize("learner", ["client", "tester"])
def test_encrypted_sums_are_those_in_the_clear(learner: str) -> None:
    study = Study(NAMES[:20], NAMES[5:], learner=learner)
    sums = study.run()
    assert sums.shape == (2, 4, 2)
    assert np.array_equal(sums, study.expected())


def test_the_sums_in_the_clear_are_those_by_hand() -> None:
    """The twin by itself: one row, one cell, the paper's equation."""
    study = Study(NAMES[:20], NAMES[5:])
    total = 0
    for row in range(10):  # the first cell
        above, below = study.rows.places.members[row]
        in_table = [study.people[i] in study.known for i in (above, below)]
        if all(in_table):
            a = study.weights[study.known.index(study.people[above]), 0]
            b = study.weights[study.known.index(study.people[below]), 1]
            total += int(a) * int(b) * int(study.rows.values[row, 0])
    assert study.expected()[0, 0, 0] == total


def test_odd_tables_are_exact() -> None:
    strangers = [f"stranger {i}" for i in range(25)]
    nobody = Study(NAMES[:20], strangers)
    assert np.array_equal(nobody.run(), np.zeros(nobody.terms.shape, object))
    one = Study(NAMES[:1], [NAMES[0]], tuples=((0,), (1,)))
    assert np.array_equal(one.run(), one.expected())
    nothing = Study(NAMES[:20], NAMES[5:])
    nothing.weights[:] = 0
    assert np.array_equal(nothing.run(), nothing.expected())


def test_sums_beyond_one_modulus_are_exact_by_two() -> None:
    weights, values = Entries(0, 2**20, 2**20), Entries(-(2**22), 2**22, 2**23)
    study = Study(NAMES[:20], NAMES[5:], weights=weights, values=values)
    assert len(study.terms.rings) == 2
    assert np.array_equal(study.run(), study.expected())


def test_sums_of_shares_are_exact() -> None:
    """Shares as large as they come."""
    study = Study(NAMES[:20], NAMES[5:])
    rng = np.random.default_rng(1)
    shares = rng.integers(MODULI[0] - 10, MODULI[0], (40, 2, 2)).astype(np.uint64)
    found = summed(study.terms, MODULI[0], study.rows.places, shares)
    for cell in range(4):
        by_hand = sum(int(shares[row, 1, 0]) for row in range(10 * cell, 10 * cell + 10))
        assert int(found[1, cell, 0]) == by_hand % MODULI[0]


def test_the_client_sees_nothing_but_uniform_numbers() -> None:
    """Masks: shares of the same products differ in every run, and spread over all of t."""
    study = Study(NAMES[:20], NAMES[5:])
    seen = []
    for _ in range(2):
        tester, client = study.tester(), study.client()
        message = tester.start()
        while client._exchange.message.kind.name != "SHARE":
            message = tester.receive(client.receive(message)) or b""
        seen.append(client._shares.ravel() / MODULI[0])
    assert not np.any(seen[0] == seen[1])
    # 320 uniform numbers: the mean has a standard error of .0161, 6 of it.
    together = np.concatenate(seen)
    assert abs(together.mean() - 0.5) < 0.097


def test_the_printed_mask_gives_away_what_it_is_to_hide() -> None:
    """Why masks are added: with q·numerator and q·denominator, the divisor tells q."""
    rng = np.random.default_rng(2)
    told = 0
    for _ in range(200):
        numerator, denominator = (int(x) for x in rng.integers(1, 10**9, 2))
        q = int(rng.integers(1, 10**9))
        told += q * denominator // math.gcd(q * numerator, q * denominator) == denominator
    # Two integers have no common divisor with probability 6/π² = .61: 95 of 200 is 7 SD below.
    assert told > 95


def test_the_tester_learns_who_matched_and_how_many() -> None:
    """The leak of this setting: vectors are nearly unique, so they name their members."""
    study = Study(NAMES[:20], NAMES[12:])
    tester, client = study.tester(), study.client()
    message: bytes | None = tester.start()
    while message is not None and tester._ciphers == []:
        message = tester.receive(client.receive(message))
    vectors = {tuple(vector) for vector in tester._matched.tolist()} - {(0, 0)}
    names = {
        name
        for name, row in zip(study.known, study.weights.tolist(), strict=True)
        if tuple(row) in vectors
    }
    assert names == set(NAMES[12:20])
    assert len(vectors) == 8


def test_what_was_altered_on_its_way_is_refused() -> None:
    study = Study(NAMES[:20], NAMES[5:])
    tester, client = study.tester(), study.client()
    message = tester.start()
    seen = set()
    while True:
        kind = message[9]
        if kind == 15:  # MASKED: a ciphertext of nothing
            with pytest.raises(errors.NoiseBudgetError):
                client.receive(message[:82] + b"\x01\0\0\0\0\0\0\x07" * ((len(message) - 82) // 8))
            seen.add(kind)
        answer = client.receive(message)
        if answer[9] == 13:  # ROWS: a member that there is not
            with pytest.raises(errors.MalformedError):
                tester.receive(answer[:82] + b"\xff" * (len(answer) - 82))
            seen.add(13)
        following = tester.receive(answer)
        if following is None:
            break
        message = following
    assert seen == {13, 15}
    assert np.array_equal(client.sums, study.expected())


def test_altered_weights_of_a_member_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(NAMES[:20], NAMES[5:])
    tester, client = study.tester(), study.client()

    def altered(part: int) -> bytes:
        return b"".join(member[:-1] + bytes([member[-1] ^ 1]) for member in client._members)

    monkeypatch.setattr(client, "_shuffled_body", altered)
    with refuses(errors.MalformedError, "altered-weights"):
        _play(tester, client)


def test_tables_must_fit_the_terms() -> None:
    study = Study(NAMES[:20], NAMES[5:])
    twice = [NAMES[0], *NAMES[:19]]
    with refuses(BoundsError, "member-twice"):
        two_teams.TesterParty(study.terms, b"".join(map(token, twice)), study.weights)
    with pytest.raises(BoundsError):
        two_teams.TesterParty(study.terms, bytes(32 * 20), study.weights + 1_000)
    beyond = ClientRows(study.rows.places, study.rows.values * 2**21)
    with pytest.raises(BoundsError):
        ClientParty(study.terms, bytes(32 * 25), beyond)
    odd: list[dict[str, Any]] = [{"rows": 0}, {"tuples": ()}, {"tuples": ((2, 0),)}]
    for bad in [*odd, {"tuples": ((0,), (0, 1))}]:
        with pytest.raises(BoundsError):
            replace(study.terms, **bad)


def test_a_cell_of_few_rows_is_refused_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact sum of one row is that row."""
    study = Study(NAMES[:20], NAMES[5:], least_rows=5)
    alone = replace(study.rows.places, cell=np.repeat([0, 1, 2, 3], [10, 10, 19, 1]))
    repeated = replace(study.rows.places, members=np.repeat(study.rows.places.members[::10], 10, 0))
    for places in (alone, repeated):
        with refuses(errors.MalformedError, "few-rows-in-a-cell", 5):
            ClientParty(study.terms, bytes(32 * 25), ClientRows(places, study.rows.values))
        study.rows = ClientRows(places, study.rows.values)
        with monkeypatch.context() as lax:
            lax.setattr(Places, "check", lambda *_: None)
            client = study.client()
        with refuses(errors.MalformedError, "few-rows-in-a-cell", 5):
            _play(study.tester(), client)


def test_there_are_no_resamples() -> None:
    """Their exact sums would tell the learner every row: see the test of `plaintext_bootstrap`."""
    assert not {"resamples", "seed", "units"} & set(LibraryTerms.__dataclass_fields__)


def test_sums_are_only_for_the_learner() -> None:
    study = Study(NAMES[:20], NAMES[5:])
    for party in (study.tester(), study.client()):
        with pytest.raises(errors.SpentError):
            _ = party.sums
    assert len(split_items(bytes(64))) == 2


def _play(tester: two_teams.TesterParty, client: ClientParty) -> None:
    message: bytes | None = tester.start()
    while message is not None:
        message = tester.receive(client.receive(message))
