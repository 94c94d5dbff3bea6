"""An auditor that bends private set intersection is refused before anybody is read."""

from collections.abc import Sequence

import numpy as np
import pytest
import rbcl

from privacy.two_party import (
    AuditorParty,
    Opening,
    PlatformParty,
    RunTerms,
    auditor_party,
    message_order,
    open_transcript,
    platform_party,
)
from privacy.two_party.errors import (
    EqualPointsError,
    MessageError,
    OpeningError,
    PointError,
    SpentError,
    WrongProofError,
)
from privacy.two_party.joins import CandidatePeople
from privacy.two_party.messages import MessageKind
from privacy.two_party.private_set_intersection import POINT, Blinding, DistinctPoints, split_items
from tests.privacy.two_party.malleable import Bend, BendingAuditor, ManyOfOne, straight
from tests.privacy.two_party.runs import KEY, REGULATOR, World, psi_world, small, token

ROWS, PLACES = 8, 16
OTHERS = [f"other {i}" for i in range(PLACES)]
IDENTITY, NO_POINT = bytes(POINT), b"\xff" * POINT


def world(*, there: bool = True, terms: RunTerms | None = None) -> World:
    """Rows of one person and of strangers. The person is on the platform or not, among others."""
    people = ["X", *OTHERS[1:]] if there else OTHERS
    rows = ["X", *(f"stranger {i}" for i in range(1, ROWS))]
    return psi_world(terms or small(ROWS, candidates=PLACES), rows, people)


def attacker(made: World) -> ManyOfOne:
    return ManyOfOne(made.terms, made.weights, regulator_key=KEY, tokens=made.tokens)


def bending(made: World, *, rows: Bend = straight, candidates: Bend = straight) -> BendingAuditor:
    found = BendingAuditor(made.terms, made.weights, regulator_key=KEY, tokens=made.tokens)
    found.bend_rows, found.bend_candidates = rows, candidates
    return found


def until(kind: MessageKind, auditor: AuditorParty, platform: PlatformParty) -> bytes:
    """Exchange messages up to the first of this kind, which is not sent."""
    message: bytes | None = auditor.start()
    while message is not None and message[9] != kind:
        message = auditor.receive(platform.receive(message))
    assert message is not None
    return message


def matched(auditor: AuditorParty, platform: PlatformParty) -> list[int]:
    """The people whom the platform is about to read, row by row."""
    until(MessageKind.ASK, auditor, platform)
    return [int(person) for person in platform._matched() if person >= 0]


def refused(made: World, auditor: AuditorParty) -> str:
    """The code by which a whole run is refused, with nobody read."""
    with pytest.raises((MessageError, WrongProofError)) as caught:
        until(MessageKind.ASK, auditor, made.platform())
    assert (made.reads, made.releases) == ([], 0)
    return caught.value.code


def test_candidates_under_many_keys_end_the_run_before_anybody_is_read() -> None:
    made = world()
    auditor, platform = attacker(made), made.platform()
    message = until(MessageKind.PROOF, auditor, platform)
    with pytest.raises(WrongProofError):
        platform.receive(message)
    with pytest.raises(SpentError):
        platform.receive(message)
    assert (made.reads, made.releases, platform.answered) == ([], 0, False)


def test_without_the_proof_one_person_counts_as_often_as_there_are_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The attack itself, against a platform that does not check."""
    monkeypatch.setattr(platform_party, "verify", lambda *_: None)
    counts = set()
    # X is first in its block with probability 1/8: never in 110 runs has a probability below 1e-6.
    for _ in range(110):
        made = world()
        counts.add(len(matched(attacker(made), made.platform())))
        if ROWS in counts:
            break
    assert ROWS in counts
    made = world(there=False)
    assert matched(attacker(made), made.platform()) == []


@pytest.mark.parametrize("there", [True, False])
def test_bent_rows_alone_let_a_person_count_once_at_most(there: bool) -> None:
    """Factors of rows are free, for nothing binds them. Only a row of a·H(X) meets X."""
    made = world(there=there)
    auditor = attacker(made)
    auditor.bend_candidates = straight
    assert matched(auditor, made.platform()) == []
    auditor = attacker(made)
    auditor.bend_candidates = straight
    auditor.factors[3] = (1).to_bytes(32, "little")
    assert matched(auditor, made.platform()) == [0] * there


def test_one_person_moves_the_sums_by_no_more_than_the_price_counts() -> None:
    """The largest weights and values, no noise, and rows of X with eight factors, one of them 1."""
    sums = []
    for there in (True, False):
        made = world(there=there)
        made.weights[:], made.values[:], made.noise = 500, 50, None
        auditor = attacker(made)
        auditor.bend_candidates = straight
        auditor.factors[5] = (1).to_bytes(32, "little")
        until(MessageKind.ASK, auditor, platform := made.platform())
        message: bytes | None = auditor._sent
        while message is not None:
            message = auditor.receive(platform.receive(message))
        sums.append(auditor.sums)
    moved = int(np.abs(sums[0] - sums[1]).sum())
    weights, values = made.terms.weights.total, made.terms.values.total
    assert moved == weights * values  # one row, and not eight
    assert moved <= made.terms.bounds.added.l1


def swapped(points: Sequence[bytes]) -> Sequence[bytes]:
    return [points[1], points[0], *points[2:]]


def last_under_another_key(points: Sequence[bytes]) -> Sequence[bytes]:
    return [*points[:-1], Blinding().of_points(points[-1])]


def all_under_another_key(points: Sequence[bytes]) -> Sequence[bytes]:
    return split_items(Blinding().of_points(b"".join(points)))


@pytest.mark.parametrize("bend", [swapped, last_under_another_key, all_under_another_key])
def test_whatever_else_came_back_ends_the_run(bend: Bend) -> None:
    made = world()
    assert refused(made, bending(made, candidates=bend)) == "wrong-proof"


def test_rows_may_be_anything_but_equal_or_no_points() -> None:
    made = world()
    for bend, code in (
        (lambda points: [points[1], *points[1:]], "equal-points"),
        (lambda points: [IDENTITY, *points[1:]], "point"),
        (lambda points: [*points[:-1], NO_POINT], "point"),
    ):
        assert refused(made, bending(made, rows=bend)) == code
        if code == "point":
            continue
        assert refused(made, bending(made, candidates=bend)) == code
    honest = made.auditor()
    message = until(MessageKind.REBLINDED, honest, platform := made.platform())
    for bad in (IDENTITY, NO_POINT):
        with pytest.raises(PointError):
            platform.receive(message[:-POINT] + bad)
    platform.receive(message)  # what was refused changed nothing


def test_rows_are_compared_over_several_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (message_order, auditor_party, platform_party):
        monkeypatch.setattr(module, "CHUNK", 3)
    made = world()
    assert matched(made.auditor(), made.platform()) == [0]
    kept: list[bytes] = []

    def repeating(points: Sequence[bytes]) -> Sequence[bytes]:
        kept.extend(points)
        return [kept[0], *points[1:]]

    assert refused(made, bending(made, rows=repeating)) == "equal-points"
    kept.clear()
    assert refused(made, bending(made, candidates=repeating)) == "equal-points"


@pytest.mark.parametrize("bad", [IDENTITY, NO_POINT])
def test_a_commitment_must_be_a_point(bad: bytes) -> None:
    made = world()
    hello = made.auditor().start()
    with pytest.raises(PointError):
        made.platform().receive(hello[:-POINT] + bad)


def test_the_commitment_comes_first_and_is_part_of_the_run() -> None:
    made = world()
    auditor, platform = made.auditor(), made.platform()
    hello = auditor.start()
    assert hello[-POINT:] == auditor._blinding.commitment
    other = Blinding().commitment
    welcome = platform.receive(hello[:-POINT] + other)
    with pytest.raises(MessageError):
        auditor.receive(welcome)  # its hash covers the HELLO that the platform got
    bare = small(3)
    assert message_order.list_messages(bare)[0].message.length == len(hello) - 82 - POINT


def test_a_proof_of_one_run_fails_in_another() -> None:
    made = world()
    first = until(MessageKind.PROOF, made.auditor(), made.platform())
    auditor, platform = made.auditor(), made.platform()
    second = until(MessageKind.PROOF, auditor, platform)
    with pytest.raises(WrongProofError):
        platform.receive(second[:82] + first[82:])


def test_a_platform_that_repeats_a_candidate_is_refused_by_the_auditor() -> None:
    made = world()
    auditor, platform = made.auditor(), made.platform()
    message = until(MessageKind.BLINDED, auditor, platform)
    answer = platform.receive(message)
    with pytest.raises(EqualPointsError):
        auditor.receive(answer[: -2 * POINT] + answer[-POINT:] * 2)
    assert auditor.receive(answer) is not None


def test_the_order_of_candidates_is_not_that_of_the_directory() -> None:
    """Candidates are shuffled in every run of one charge: the auditor sees no place of anybody."""
    made = world()
    tokens = b"".join(map(token, OTHERS))
    made.join = CandidatePeople(tokens, np.arange(PLACES), draw_key=bytes(32))
    orders = set()
    for _ in range(4):
        auditor, platform = made.auditor(), made.platform()
        points = split_items(platform.receive(until(MessageKind.BLINDED, auditor, platform))[82:])
        listed = split_items(platform._blinding.of_tokens(platform._run, tokens))
        orders.add(tuple(points.index(point) for point in listed))
    # Two equal orders of 16 places have a probability of 6/16! = 3e-13; that of the directory less.
    assert len(orders) == 4
    assert tuple(range(PLACES)) not in orders


class Run:
    """A run that was stored, by a platform that did not check its proof."""

    def __init__(self, auditor: AuditorParty, made: World) -> None:
        platform = made.platform()
        self.terms, self.messages = made.terms, list[bytes]()
        message: bytes | None = auditor.start()
        while message is not None:
            answer = platform.receive(message)
            self.messages += [message, answer]
            message = auditor.receive(answer)
        self.transcript = platform.transcript

    def opened(self) -> Opening:
        return open_transcript(self.terms, self.messages, self.transcript, bytes(REGULATOR))


def test_opening_checks_the_proof_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made = world()
    assert Run(made.auditor(), made).opened() == Opening(())
    monkeypatch.setattr(platform_party, "verify", lambda *_: None)
    for auditor in (attacker(made), bending(made, candidates=swapped)):
        assert [found.code for found in Run(auditor, made).opened().findings] == ["wrong-proof"]


def test_opening_finds_equal_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made = world()
    monkeypatch.setattr(DistinctPoints, "take", lambda *_: None)
    auditor = bending(made, rows=lambda points: [points[1], *points[1:]])
    run = Run(auditor, made)
    monkeypatch.undo()
    assert [found.code for found in run.opened().findings] == ["wrong-proof"]


@pytest.mark.parametrize("row", [bytes(POINT), b"\xff" * POINT], ids=["identity", "no point"])
def test_opening_finds_rows_that_are_no_points(monkeypatch: pytest.MonkeyPatch, row: bytes) -> None:
    """The platform that stored the run multiplied what cannot be multiplied."""
    made, of_points = world(), Blinding.of_points

    def lenient(self: Blinding, points: bytes) -> bytes:
        sent = split_items(points)
        return b"".join(
            random_point() if point == row else of_points(self, point) for point in sent
        )

    with monkeypatch.context() as careless:
        careless.setattr(Blinding, "of_points", lenient)
        run = Run(bending(made, rows=lambda points: [row, *points[1:]]), made)
    assert [found.code for found in run.opened().findings] == ["wrong-proof"]


def random_point() -> bytes:
    return bytes(rbcl.crypto_core_ristretto255_random())


def test_a_run_of_the_version_without_a_proof_is_not_opened_as_an_altered_one() -> None:
    made = world()
    run = Run(made.auditor(), made)
    run.messages[0] = run.messages[0][:6] + b"\1" + run.messages[0][7:]
    with pytest.raises(OpeningError):
        run.opened()
