"""The proof that all candidates came back under one key: vectors, and every way to bend it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rbcl

from privacy.two_party import dleq
from privacy.two_party.domain_separation import proof_label
from privacy.two_party.errors import TwoPartyError, WrongProofError
from privacy.two_party.private_set_intersection import (
    POINT,
    SLICE,
    Blinding,
    DistinctPoints,
    check_points,
    split_items,
)

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "two_party" / "proofs.json").read_text()
)
CONTEXT = bytes(64)


def accept(case: dict[str, str]) -> None:
    """Check what the platform checks, in its order."""
    of = {name: bytes.fromhex(case[name]) for name in VECTORS["good"]}
    check_points(of["commitment"])
    DistinctPoints().take(of["rows"])
    check_points(of["returned"])
    DistinctPoints().take(of["returned"])
    dleq.verify(of["commitment"], of["context"], of["candidates"], of["returned"], of["proof"])


def test_a_proof_by_hand_holds() -> None:
    accept(VECTORS["good"])


@pytest.mark.parametrize("case", VECTORS["bad"], ids=lambda case: case["name"])
def test_bad_vectors_are_refused_by_code(case: dict[str, str]) -> None:
    with pytest.raises(TwoPartyError) as caught:
        accept(case)
    assert caught.value.code == case["code"]


def test_a_proof_is_that_of_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([VECTORS["key"], VECTORS["nonce"]])
    name = "crypto_core_ristretto255_scalar_random"
    monkeypatch.setattr(rbcl, name, lambda: bytes.fromhex(next(drawn)))
    blinding, good = Blinding(), VECTORS["good"]
    assert blinding.commitment.hex() == good["commitment"]
    candidates = bytes.fromhex(good["candidates"])
    returned = blinding.of_points(candidates)
    assert returned.hex() == good["returned"]
    made = dleq.prove(blinding, bytes.fromhex(good["context"]), candidates, returned)
    assert made.hex() == good["proof"]


def points(count: int) -> bytes:
    return b"".join(rbcl.crypto_core_ristretto255_random() for _ in range(count))


@pytest.mark.parametrize("count", [1, 2, SLICE, SLICE + 1])
def test_honest_proofs_hold_for_any_number_of_points(count: int) -> None:
    blinding, candidates = Blinding(), points(count)
    returned = blinding.of_points(candidates)
    proof = dleq.prove(blinding, CONTEXT, candidates, returned)
    dleq.verify(blinding.commitment, CONTEXT, candidates, returned, proof)
    # By one worker, the same.
    dleq.verify(blinding.commitment, CONTEXT, candidates, returned, proof, map)


def test_no_bit_of_anything_can_be_changed() -> None:
    blinding, candidates = Blinding(), points(3)
    returned = blinding.of_points(candidates)
    proof = dleq.prove(blinding, CONTEXT, candidates, returned)
    given = [blinding.commitment, CONTEXT, candidates, returned, proof]
    for place, whole in enumerate(given):
        for position in range(0, len(whole), 7):
            altered = bytearray(whole)
            altered[position] ^= 1 << (position % 8)
            with pytest.raises(WrongProofError):
                _verify([*given[:place], bytes(altered), *given[place + 1 :]])


def _verify(given: list[bytes]) -> None:
    commitment, context, candidates, returned, proof = given
    dleq.verify(commitment, context, candidates, returned, proof)


def swapped(returned: list[bytes]) -> list[bytes]:
    return [returned[1], returned[0], *returned[2:]]


def under_two_keys(returned: list[bytes]) -> list[bytes]:
    return [*returned[:-1], Blinding().of_points(returned[-1])]


def moved_apart(returned: list[bytes]) -> list[bytes]:
    """Add to one what is taken from another: a plain sum of all points does not see it."""
    more = rbcl.crypto_core_ristretto255_random()
    first = rbcl.crypto_core_ristretto255_add(returned[0], more)
    return [first, rbcl.crypto_core_ristretto255_sub(returned[1], more), *returned[2:]]


def moved_apart_in_two_slices(returned: list[bytes]) -> list[bytes]:
    """Do the same to two points at one place of two slices: each point has its own weight."""
    first, second = moved_apart([returned[0], returned[SLICE]])
    return [first, *returned[1:SLICE], second, *returned[SLICE + 1 :]]


@pytest.mark.parametrize("bend", [swapped, under_two_keys, moved_apart, moved_apart_in_two_slices])
def test_points_bent_before_the_proof_are_refused(
    bend: Callable[[list[bytes]], list[bytes]],
) -> None:
    """The prover follows all steps on the bent points: its key still is not theirs."""
    blinding, candidates = Blinding(), points(SLICE + 3)
    bent = b"".join(bend(list(split_items(blinding.of_points(candidates)))))
    proof = dleq.prove(blinding, CONTEXT, candidates, bent)
    with pytest.raises(WrongProofError):
        dleq.verify(blinding.commitment, CONTEXT, candidates, bent, proof)


def test_points_that_cancel_under_known_weights_are_refused() -> None:
    """The prover moves two points apart by weights that it computed before it moved them."""
    blinding, candidates = Blinding(), points(2)
    straight = blinding.of_points(candidates)
    seed = dleq._seed(CONTEXT, blinding.commitment, candidates, straight)
    label = proof_label("weight") + seed
    weights = [dleq._scalar(label + number.to_bytes(8, "big")) for number in range(2)]
    more = rbcl.crypto_core_ristretto255_random()
    first, second = split_items(straight)
    bent = rbcl.crypto_core_ristretto255_add(first, dleq._times(weights[1], more))
    bent += rbcl.crypto_core_ristretto255_sub(second, dleq._times(weights[0], more))
    proof = dleq.prove(blinding, CONTEXT, candidates, bent)
    with pytest.raises(WrongProofError):
        dleq.verify(blinding.commitment, CONTEXT, candidates, bent, proof)


class Pretending(Blinding):
    """A key that its owner states under the commitment of another."""

    commitment = Blinding().commitment


def test_a_proof_under_another_key_than_the_committed_one_is_refused() -> None:
    blinding, candidates = Pretending(), points(3)
    returned = blinding.of_points(candidates)
    proof = dleq.prove(blinding, CONTEXT, candidates, returned)
    with pytest.raises(WrongProofError):
        dleq.verify(blinding.commitment, CONTEXT, candidates, returned, proof)


def test_the_two_lists_must_be_as_long() -> None:
    blinding, candidates = Blinding(), points(3)
    returned = blinding.of_points(candidates)
    proof = dleq.prove(blinding, CONTEXT, candidates, returned)
    for one, other in ((candidates, returned[:-POINT]), (b"", b"")):
        with pytest.raises(WrongProofError):
            dleq.verify(blinding.commitment, CONTEXT, one, other, proof)


def test_two_proofs_of_one_key_use_two_nonces() -> None:
    """Two answers with one nonce would give the key away."""
    blinding, candidates = Blinding(), points(2)
    returned = blinding.of_points(candidates)
    made = {dleq.prove(blinding, CONTEXT, candidates, returned) for _ in range(5)}
    assert len({proof[:32] for proof in made}) == len({proof[32:] for proof in made}) == 5
