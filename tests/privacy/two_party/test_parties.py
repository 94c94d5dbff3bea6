"""Whole runs: exact sums, nothing told but them, and never two answers."""

import builtins
import copy
import io
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from privacy.errors import BoundsError
from privacy.two_party import CandidatePeople, Entries, PlatformParty, RunTerms, Uploaded
from privacy.two_party.errors import (
    CiphertextError,
    MessageError,
    OverflowedError,
    PointError,
    SpentError,
)
from privacy.two_party.message_order import list_messages
from privacy.two_party.private_set_intersection import CHUNK
from privacy.waist import DiscreteLaplace, price, release
from tests.privacy.two_party.runs import (
    KEY,
    World,
    exchanged,
    psi_world,
    random_world,
    small,
    token,
)

NAMES = [f"person {i}" for i in range(12)]


def uploaded() -> World:
    return random_world(small(6), np.array([3, -1, 0, 3, 2, -1]))


def intersected() -> World:
    rows = [NAMES[3], "stranger", NAMES[0], NAMES[3], NAMES[2], "another"]
    return psi_world(small(6, candidates=16), rows, NAMES)


BOTH = pytest.mark.parametrize("make", [uploaded, intersected])
PERSONS = np.array([3, -1, 0, 3, 2, -1])


@BOTH
def test_sums_are_those_of_the_matched_rows(make: Callable[[], World]) -> None:
    world = make()
    assert np.array_equal(world.run(), world.expected(PERSONS))


@pytest.mark.parametrize(
    "persons",
    [np.full(6, -1), np.array([4, -1, -1, -1, -1, -1]), np.zeros(6, np.int64), np.arange(6)],
    ids=["empty intersection", "one person", "six rows of one person", "everybody"],
)
def test_odd_audiences_are_exact(persons: np.ndarray) -> None:
    by_upload = random_world(small(6), persons, seed=1)
    assert np.array_equal(by_upload.run(), by_upload.expected(persons))
    rows = [NAMES[i] if i >= 0 else f"stranger {n}" for n, i in enumerate(persons)]
    by_psi = psi_world(small(6, candidates=16), rows, NAMES)
    assert np.array_equal(by_psi.run(), by_psi.expected(persons))


def test_all_weights_zero_and_all_values_zero() -> None:
    for part in ("weights", "values"):
        world = uploaded()
        setattr(world, part, np.zeros_like(getattr(world, part)))
        assert np.array_equal(world.run(), world.expected(PERSONS))


def test_sums_beyond_one_modulus_are_exact_by_two() -> None:
    terms = small(
        6, weights=Entries(-(2**30), 2**30, 2**31), values=Entries(-(2**28), 2**28, 2**29)
    )
    assert len(terms.rings) == 2
    world = random_world(terms, PERSONS)
    world.weights[0] = -(2**30)
    world.values[3] = 2**28
    sums = world.run()
    assert np.array_equal(sums, world.expected(PERSONS))
    assert max(abs(number) for number in sums.ravel()) > 2**57


def test_a_sum_that_left_its_range_is_an_overflow_not_a_number() -> None:
    world = random_world(small(2, noise=1), np.array([0, 1]))
    world.noise = np.full((2, 2), 2**58)  # t / 2, in the middle third
    with pytest.raises(OverflowedError):
        world.run()


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_whatever_the_numbers_the_sums_are_exact(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 9))
    terms = small(rows, weights=Entries(-9, 2**29, 2**31), values=Entries(-(2**20), 2**20, 2**21))
    persons = np.array(data.draw(st.lists(st.integers(-1, 4), min_size=rows, max_size=rows)))
    world = random_world(terms, persons)
    weights, values = st.sampled_from([-9, 0, 1, 2**29]), st.sampled_from([-(2**20), -1, 0, 2**20])
    world.weights = data.draw(arrays(np.int64, (rows, 2), elements=weights))
    world.values = data.draw(arrays(np.int64, (5, 2), elements=values))
    assert np.array_equal(world.run(), world.expected(persons))


def test_two_tokens_of_one_person_count_once() -> None:
    world = psi_world(small(6, candidates=16), [NAMES[0], NAMES[1], *"abcd"], NAMES[:2])
    world.join = CandidatePeople(b"".join(map(token, NAMES[:2])), np.array([5, 5]))
    world.values = np.arange(12).reshape(6, 2)
    expected = world.weights[0][:, np.newaxis] * world.values[5]
    assert np.array_equal(world.run(), expected + world.noise)


def test_more_rows_and_candidates_than_one_message_holds() -> None:
    terms = small(CHUNK + 3, candidates=2)
    kinds = [exchange.message.kind.name for exchange in list_messages(terms)]
    assert kinds.count("BLINDED") == 2
    assert kinds.count("REBLINDED") == 1
    kinds = [e.message.kind.name for e in list_messages(small(3, candidates=CHUNK + 1))]
    assert (kinds.count("BLINDED"), kinds.count("REBLINDED")) == (2, 2)


def test_many_cells_come_in_parts() -> None:
    world = random_world(small(3, cells=20, values=Entries(-5, 5, 100)), np.array([0, 1, 2]))
    assert np.array_equal(world.run(), world.expected(np.array([0, 1, 2])))
    kinds = [exchange.message.kind.name for exchange in list_messages(world.terms)]
    assert kinds.count("ASK") == 2


def test_the_waist_puts_its_noise_on_encrypted_sums() -> None:
    """The release is priced and charged like any table; the party draws no noise itself."""
    world = uploaded()
    plan = {"sums": DiscreteLaplace(world.terms.bounds, Fraction(1))}
    platform = PlatformParty(
        world.terms,
        world.join,
        world._values,
        lambda table: release(plan, {"sums": table}, price(plan))["sums"],
    )
    auditor = world.auditor()
    assert len(list(exchanged(auditor, platform))) == len(list_messages(world.terms))
    world.noise = None
    noise = (auditor.sums - world.expected(PERSONS)).astype(float)
    # Discrete Laplace of scale 100,000: all four below 10 or one beyond 4e6 by chance 4e-16.
    assert 10 < np.abs(noise).max() < 4_000_000


def shapes(world: World) -> list[tuple[int, int]]:
    return [(len(m), len(a)) for m, a in exchanged(world.auditor(), world.platform())]


@pytest.mark.parametrize("candidates", [None, 16])
def test_a_member_and_a_stranger_look_the_same(candidates: int | None) -> None:
    """Messages of the same sizes, and before the release an auditor who holds the same."""
    worlds = []
    for name, person in ((NAMES[0], 0), ("stranger", -1)):
        terms = small(1, candidates=candidates)
        world = (
            random_world(terms, np.array([person]))
            if candidates is None
            else psi_world(terms, [name], NAMES)
        )
        worlds.append(world)
    assert shapes(worlds[0]) == shapes(worlds[1])
    held = []
    for world in worlds:
        auditor, platform = world.auditor(), world.platform()
        for _ in exchanged(auditor, platform):
            if platform.wants_values:
                break
        held.append((auditor.number, auditor.messages_expected, auditor._found))
    assert held[0] == held[1]


def test_points_of_two_runs_do_not_compare_and_hide_strangers() -> None:
    """The platform sees a fresh point for a row in each run."""
    bodies = []
    for _ in range(2):
        world = intersected()
        messages = [m for m, _ in exchanged(world.auditor(), world.platform())]
        bodies.append(messages[2][82:])
    points = [{body[i : i + 32] for i in range(0, len(body), 32)} for body in bodies]
    assert not points[0] & points[1]
    assert not any(token("stranger") in body for body in bodies)


@BOTH
def test_every_message_can_be_repeated_and_nothing_else_passes(make: Callable[[], World]) -> None:
    world = make()
    auditor, platform = world.auditor(), world.platform()
    message: bytes | None = auditor.start()
    assert auditor.start() == message
    past: list[bytes] = []
    while message is not None:
        answer = platform.receive(message)
        assert platform.receive(message) == answer
        for old in past:
            with pytest.raises((MessageError, SpentError)):
                platform.receive(old)
        for old in [message, message[:-1], message + b"\0", *past]:
            with pytest.raises(MessageError):
                auditor.receive(old)
        past.append(message)
        message = auditor.receive(answer)
        assert auditor.receive(answer) == message
    assert np.array_equal(auditor.sums, world.expected(PERSONS))
    assert (len(world.reads), world.releases) == (1, 1)
    with pytest.raises(SpentError):
        auditor.receive(b"")
    with pytest.raises(SpentError):
        auditor.start()


@BOTH
def test_another_first_message_is_refused_once_the_first_was_answered(
    make: Callable[[], World],
) -> None:
    """An auditor must commit to its key before it has seen anything of the platform's."""
    world = make()
    auditor, platform = world.auditor(), world.platform()
    message: bytes | None = auditor.start()
    while message is not None:
        answer = platform.receive(message)
        with pytest.raises((MessageError, SpentError)):
            platform.receive(world.auditor().start())
        message = auditor.receive(answer)
    assert np.array_equal(auditor.sums, world.expected(PERSONS))


@BOTH
def test_killed_at_every_boundary_by_either_side(make: Callable[[], World]) -> None:
    """A dead party means a new run on the same charge, until there is an answer: then its bytes."""
    exchanges = len(list_messages(make().terms))
    for killed_after in range(exchanges):
        for dead in ("auditor", "platform"):
            world = make()
            store: dict[bytes, bytes] = {}
            auditor, platform = world.auditor(), world.platform()
            for number, _ in enumerate(exchanged(auditor, platform)):
                store.update(platform.final)
                if number == killed_after:
                    break
            answered = platform.answered
            if not answered:
                assert world.releases == 0
                assert np.array_equal(world.run(), world.expected(PERSONS))
            elif dead == "platform":
                message = auditor._sent
                while message is not None:
                    message = auditor.receive(store[message])
                assert np.array_equal(auditor.sums, world.expected(PERSONS))
            assert world.releases == 1


def test_a_release_that_fails_is_not_tried_again() -> None:
    world = uploaded()

    def broken(table: object) -> None:
        world.releases += 1
        raise OSError("no entropy")

    platform = PlatformParty(world.terms, world.join, world._values, broken)  # type: ignore[arg-type]
    auditor = world.auditor()
    with pytest.raises(OSError, match="no entropy"):
        list(exchanged(auditor, platform))
    for _ in range(2):
        with pytest.raises(SpentError):
            platform.receive(auditor._sent or b"")
    assert world.releases == 1
    assert not platform.answered


def test_many_threads_get_one_answer() -> None:
    world = uploaded()
    auditor, platform = world.auditor(), world.platform()
    for _ in exchanged(auditor, platform):
        if platform.wants_values:
            break
    message = auditor.receive(platform.receive(auditor._sent or b""))
    assert message is not None
    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(platform.receive, [message] * 8))
    assert len(answers) == 1
    assert world.releases == 1


def test_parties_are_neither_written_down_nor_copied() -> None:
    world = uploaded()
    for party in (world.auditor(), world.platform()):
        for write in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError):
                write(party)


def test_keys_are_dropped_when_they_have_done_their_work() -> None:
    world = intersected()
    auditor, platform = world.auditor(), world.platform()
    for message, _ in exchanged(auditor, platform):
        if message[9] == 8:  # WEIGHTS come after all points
            assert auditor._blinding.dropped
            assert platform._blinding.dropped
    assert auditor._keys == []


def with_body(message: bytes, body: bytes) -> bytes:
    return message[:82] + body


def test_bad_points_and_bad_numbers_change_nothing() -> None:
    world = intersected()
    auditor, platform = world.auditor(), world.platform()
    message = auditor.start()
    seen = 0
    while message is not None:
        kind, size = message[9], len(message) - 82
        if kind in (5, 7):
            with pytest.raises(PointError):
                platform.receive(with_body(message, bytes(size)))
            seen += 1
        if kind in (3, 8):
            with pytest.raises(CiphertextError):
                platform.receive(with_body(message, b"\xff" * size))
            seen += 1
        answer = platform.receive(message)
        if answer[9] == 6:
            with pytest.raises(PointError):
                auditor.receive(with_body(answer, bytes(len(answer) - 82)))
            seen += 1
        if answer[9] == 10:
            with pytest.raises(CiphertextError):
                auditor.receive(with_body(answer, b"\xff" * (len(answer) - 82)))
            seen += 1
        following = auditor.receive(answer)
        if following is None:
            break
        message = following
    assert seen == 6
    assert np.array_equal(auditor.sums, world.expected(PERSONS))


def test_values_beyond_the_terms_are_cut_and_not_refused() -> None:
    """Bounds are the party's to enforce: one person's odd values may not make an audit fail."""
    world = random_world(small(2), np.array([0, 1]))
    world.values = np.array([[10**15, -(10**15)], [-(2**63), 2**63 - 1]])
    world.noise = None
    cut = np.array([[50, -50], [-50, 50]])
    assert np.array_equal(world.run(), world.weights.T @ cut)
    tight = Entries(-50, 50, 60).clip(np.array([[40, -30, 20], [0, 0, 70], [-60, 5, 9]]))
    assert tight.tolist() == [[40, -20, 0], [0, 0, 50], [-50, 5, 5]]


def test_nothing_is_written_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a file is opened")

    for where, name in ((builtins, "open"), (io, "open"), (os, "open")):
        monkeypatch.setattr(where, name, refused)
    for make in (uploaded, intersected):
        assert np.array_equal(make().run().shape, (2, 2))


def test_what_the_parties_hold_must_fit_the_terms() -> None:
    world = uploaded()
    right = world.weights
    for bad in (right[:-1], -right - 1, right + 1_001, right + 500, right * 1.0):
        world.weights = np.asarray(bad)
        with pytest.raises(BoundsError):
            world.auditor()
    terms: RunTerms = small(6, candidates=4)
    for join in (Uploaded(np.arange(6)), Uploaded(np.arange(4))):
        with pytest.raises(BoundsError):
            PlatformParty(terms, join, lambda persons: persons, lambda table: table.plus(table))  # type: ignore[arg-type]
    with pytest.raises(BoundsError):
        CandidatePeople(bytes(33), np.arange(1))
    assert len(KEY) == 32


def test_sums_are_not_there_before_the_end() -> None:
    with pytest.raises(SpentError):
        _ = uploaded().auditor().sums
